"""What counts as the same output: words as they are, numbers nearly."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))
import readme_output


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("full  0.7334", "full   0.7335", True),
        ("full  0.7334", "full   0.7834", False),
        ("full  0.7334", "tuned  0.7334", False),
        ("bytes  2,675,415", "bytes  2,675,416", True),
        ("one", "one\ntwo", False),
    ],
)
def test_other_words_or_numbers_are_a_difference(shown: str, printed: str, same: bool) -> None:
    assert (readme_output.differences({"block": shown}, {"block": printed}) == []) is same
