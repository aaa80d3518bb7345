"""Every command has -h."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from tdv_lucene.cli import _group
from tdv_lucene.cli._groups import leaves


@pytest.mark.parametrize("command", [[], ["paper"], *([*words] for words, _ in leaves(_group))])
def test_h_is_help(command):
    short, long = (CliRunner().invoke(_group, [*command, flag]) for flag in ("-h", "--help"))
    assert short.exit_code == long.exit_code == 0
    assert short.output == long.output and "Usage:" in short.output


def test_h_takes_no_letter_of_anserinis_flags(monkeypatch, tmp_path):
    given = []
    monkeypatch.setattr(
        "tdv_lucene.indexes.build.build_index", lambda output, flags, **_: given.append(flags) or {}
    )
    arguments = ["index", "-index", str(tmp_path / "new"), "-threads", "2", "-hits"]
    done = CliRunner().invoke(_group, arguments)
    assert done.exit_code == 0, done.output
    assert given == [("-threads", "2", "-hits")]
