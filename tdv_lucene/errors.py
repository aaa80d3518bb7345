"""The one exception that users are meant to see, and errors of the operating system in words."""

from __future__ import annotations

import errno
import os
from pathlib import Path


class TdvError(ValueError):
    """Something the user can fix: a path, a flag, a file's content, an index that is not supported.

    The message names the thing, its value, what is legal and the remedy. The command line prints it
    and exits with status 2; any other exception is a bug of ours: please report it.
    """


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
    room = free_space(error)
    return TdvError(f"cannot write {output}: {reason}; nothing was left there{room}")


def free_space(error: OSError) -> str:
    """Return, for an error of a full disk, where to make room; empty for others."""
    if error.errno not in (errno.ENOSPC, errno.EDQUOT) or error.filename is not None:
        return ""
    return ". Make room there, or where temporary files are (TMPDIR)"
