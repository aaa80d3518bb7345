"""Read the report of a comparison again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ..errors import TdvError
from ..store import check_format
from ..vocabulary import StrPath

FILE = "report.json"
FORMAT = 1  # from 1.0 on (``FORMATS.md``)
_AGAIN = "compare the indexes again"


def read_report(folder: StrPath) -> dict[str, Any]:
    """Return the report that :func:`tdv_lucene.compare_indexes` wrote into ``folder``.

    Raises :class:`TdvError` when there is none, or one of a format that this version does not know.
    """
    path = Path(folder) / FILE
    try:
        report = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise TdvError(f"{path} cannot be read ({error}): {_AGAIN}") from error
    if not isinstance(report, dict):
        raise TdvError(f"{path} holds '{type(report).__name__}', expected a report: {_AGAIN}")
    check_format(str(path), report.get("format"), FORMAT, _AGAIN)
    return report
