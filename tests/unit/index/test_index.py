"""What an open index says of itself."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from lucene_indexes import Doc, open_writer, say

from tdv_lucene import Index
from tdv_lucene.errors import TdvError

pytestmark = pytest.mark.jvm


def test_an_index_of_a_development_version_is_named(make_index: Callable[..., Path]) -> None:
    index = make_index([[Doc("d", ["a"])]])
    writer = open_writer(index)
    say(writer, {"tdv.version": "0.9", "tdv.field": "contents"})
    writer.commit()
    writer.close()
    with pytest.raises(TdvError, match=f"{index} .*development version .*0.9"), Index.open(index):
        pass
