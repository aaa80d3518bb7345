"""Numbers the command line shows."""

from __future__ import annotations

import pytest

from tdv_lucene.cli._options import megabytes


@pytest.mark.parametrize(
    ("size", "expected"),
    [(2557, "0.00256"), (0, "0"), (281_838, "0.282"), (22_600_000, "22.6"),
     (99_960_000, "100"), (1_234_567_890, "1,234.6")],
)  # fmt: skip
def test_megabytes_tell_small_indexes_apart(size: int, expected: str) -> None:
    assert megabytes(size) == expected
