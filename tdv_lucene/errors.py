"""The one exception that users are meant to see, and errors of the operating system in words."""

from __future__ import annotations

import errno
import os
import re
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

# Unicode's noncharacters: they stand for nothing in any text, so no text is mistaken for a mark.
_BEGIN, _EQUALS, _END = "\ufdd0", "\ufdd1", "\ufdd2"
_MARK = re.compile(f"{_BEGIN}([a-z0-9_]+)(?:{_EQUALS}([^{_END}]*))?{_END}")


def argument(name: str, value: Any = None) -> str:
    """Name an argument in the message of a :class:`TdvError`.

    Python's users read ``max_loss``, or ``max_loss=0.01`` where a value is given; those of the
    command line read the option that passes it, as ``--max-loss 0.01``.
    """
    return f"{_BEGIN}{name}{'' if value is None else f'{_EQUALS}{value}'}{_END}"


def in_python(name: str, value: str | None) -> str:
    """An argument as Python writes it."""
    if value is None:
        return name
    plain = re.fullmatch(r"True|False|[-+]?[\d.]+(e[-+]?\d+)?|nan|-?inf", value)
    return f"{name}={value if plain else repr(value)}"


class TdvError(ValueError):
    """Something the user can fix: a path, a flag, a file's content, an index that is not supported.

    The message names the thing, its value, what is legal and the remedy; arguments stand in it as
    :func:`argument` marks them. The command line prints it and exits with status 2; any other
    exception is a bug of ours: please report it.
    """

    write_argument: Callable[[str, str | None], str] = staticmethod(in_python)
    """How an argument is written, of its name and the text of its value; the command line puts
    its own in this place."""

    def __str__(self) -> str:
        return _MARK.sub(lambda mark: self.write_argument(mark[1], mark[2]), super().__str__())


def explain_os_error(error: OSError, output: Path, within: Path | None = None) -> TdvError:
    """Return the error of the operating system met while making ``output`` as a :class:`TdvError`.

    ``within`` is the folder where it was made: an error of a file elsewhere names that file.
    """
    reason = error.strerror or str(error)
    elsewhere = error.filename if isinstance(error.filename, (str, os.PathLike)) else None
    if elsewhere is not None and within is not None:
        place = Path(os.path.abspath(elsewhere))
        if within not in (place, *place.parents) and place != output:
            return TdvError(f"{elsewhere}: {reason}; {output} was not written")
    free = free_space(error, output.parent)
    return TdvError(f"cannot write {output}: {reason}; nothing was left there{free}")


def free_space(error: OSError, *places: Path) -> str:
    """Return, for an error of a full disk without a file, the bytes free in ``places`` and in the
    folder of temporary files; empty for others."""
    if error.errno not in (errno.ENOSPC, errno.EDQUOT) or error.filename is not None:
        return ""
    try:
        temporary = tempfile.gettempdir()
    except OSError:  # it tries to write there
        temporary = os.environ.get("TMPDIR", "/tmp")
    told = []
    for folder, why in (*((str(place), "") for place in places), (temporary, " (TMPDIR)")):
        with suppress(OSError):
            told.append(f"{shutil.disk_usage(folder).free:,} bytes in {folder}{why}")
    return f". Free now: {', '.join(told)}"
