"""The one exception users are meant to see."""

from __future__ import annotations


class TdvError(ValueError):
    """Something the user can mend: a path, a flag, a file's content, an index we cannot serve.

    The message names the thing, its value, what is legal and the remedy. The command line prints
    it and exits with status 2; any other exception is a defect of ours, to be reported.
    """
