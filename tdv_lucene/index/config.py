"""The options of building and inspecting indexes."""

from __future__ import annotations

from dataclasses import dataclass

from ..options import Config, Named, option


@dataclass(frozen=True, kw_only=True)
class BuildConfig(Config):
    """What :func:`tdv_lucene.build_index` may replace."""

    overwrite: bool = option(False, "Replace an empty folder. Never replaces an index.")


@dataclass(frozen=True, kw_only=True)
class InspectConfig(Named):
    """How :func:`tdv_lucene.inspect_index` inspects."""

    check: bool = option(
        False,
        "Verify the checksums of all files.  [default: only of indexes up to 512 MiB]",
    )
