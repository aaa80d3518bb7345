"""``tdv-lucene verify``."""

from __future__ import annotations

import sys
from typing import Any

from ..pruning.config import VerifyConfig
from . import _options as options


@options.command("verify", config=VerifyConfig)
@options.shards_option
@options.scheduler_option
@options.pruned_option("Index that 'prune' wrote from --index.")
@options.values_or_prior_option
def command(as_json: bool, values: tuple[str, ...], **arguments: Any) -> None:
    """Check a pruned index against its source, posting by posting.

    If they differ, prints the first difference and exits with status 1.
    """
    from ..pruning.verify import verify_pruned

    found = options.run(verify_pruned, **options.folders_of_fields(values), **arguments)
    told = found
    if not (as_json or found["equal"]):  # how far it came says nothing
        told = {"equal": False, **found["difference"]}
    options.show(told, as_json)
    if not found["equal"]:
        sys.exit(1)
