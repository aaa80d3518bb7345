"""``tdv-lucene verify``."""

from __future__ import annotations

import sys
from typing import Any

from ..pruning.config import VerifyConfig
from . import _options as options


@options.command("verify", config=VerifyConfig)
@options.shards_option
@options.scheduler_option
@options.pruned_option("Check this index, which 'prune' wrote from --index.")
def command(as_json: bool, **arguments: Any) -> None:
    """Check a pruned index against its source, posting by posting.

    The pruned index holds the plan by which it was pruned. If they differ, prints the first
    difference and exits with status 1.
    """
    from ..pruning.verify import verify_pruned

    found = options.run(verify_pruned, **arguments)
    if as_json:
        options.show(found, as_json)
    elif found["equal"]:
        options.say(
            f"{arguments['pruned']} equals {arguments['index']}, pruned as recorded: "
            f"{found['postings']:,} postings in {found['documents']:,} documents were compared."
        )
    else:  # how far it came says nothing
        options.say(f"{arguments['pruned']} differs from {arguments['index']}, pruned as recorded:")
        options.show(found["difference"], as_json)
    if not found["equal"]:
        sys.exit(1)
