"""Workers that stay away are refused; one that died while nobody looked has time to come back."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tdv_lucene import TdvError
from tdv_lucene.index import workers


def test_who_stays_away_is_missed_but_not_for_a_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(workers.time, "monotonic", lambda: clock.now)
    nobody = SimpleNamespace(run=lambda *given, **how: {})
    presence = workers.Presence(nobody)
    clock.now = 10 * workers.WORKERS_SECONDS
    presence.paused(clock.now)  # results were worked with
    presence.require({"disk-a"})
    clock.now += workers.WORKERS_SECONDS
    presence.require({"disk-a"})
    clock.now += workers.PRESENCE_SECONDS
    with pytest.raises(TdvError, match="disk-a"):
        presence.require({"disk-a"})
