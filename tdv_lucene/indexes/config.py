"""The options of building and inspecting indexes."""

from __future__ import annotations

from ..options import Config, Named, option


class BuildConfig(Config):
    """What :func:`tdv_lucene.build_index` may replace."""

    overwrite: bool = option(False, "Replace an empty folder. Never replaces an index.")


class InspectConfig(Named):
    """How :func:`tdv_lucene.inspect_index` inspects."""

    check: bool = option(
        False,
        "Verify the checksums of all files.  [default: only of indexes up to 512 MiB]",
    )
