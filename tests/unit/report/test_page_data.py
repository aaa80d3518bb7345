"""What the page's script is given: every text as text, every number once."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from tdv_lucene.report.page import _encoded, for_script

STRANGE = (
    "</script><script>document.title='taken'</script><!-- <img src=x onerror=alert(1)> & \u2028"
)


def test_no_text_ends_the_script_or_begins_a_comment() -> None:
    made = for_script({"text": STRANGE, "n": [0.5, None]})
    assert not re.search("[<>&\u2028\u2029]", made)
    assert json.loads(made) == {"text": STRANGE, "n": [0.5, None]}
    with pytest.raises(ValueError):
        for_script([float("nan")])


def test_values_are_thousandths_in_two_digits_each() -> None:
    values = np.array([0.0, 1.0, 0.4375, 0.001, 0.9996])
    text = _encoded(values)
    read = [int(text[i : i + 2], 32) / 1000 for i in range(0, len(text), 2)]
    assert read == pytest.approx(values, abs=5.0001e-4)
    assert _encoded(np.array([0.5, 12.34567])) == [0.5, 12.346]
    assert _encoded(np.array([])) == ""
