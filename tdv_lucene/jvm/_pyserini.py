"""Importing Pyserini's own Python, and what some of its releases need for that."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from urllib.error import URLError

from ..errors import TdvError
from ._start import start


@contextmanager
def importing_pyserini() -> Iterator[None]:
    """Import Pyserini inside: our JVM runs before it looks for one, and failures are named.

    1.6 and later want an OpenAI key, which :func:`start` sees to; 2.4 fetches the list of its
    prebuilt indexes, and so does Anserini 2 for any Pyserini.

    Raises :class:`TdvError` when the import needs the network and there is none, or packages that
    are not installed, as in the light environment of ``scripts/demo``.
    """
    start()
    try:
        yield
    except ModuleNotFoundError as error:
        raise TdvError(
            f"Pyserini's own Python needs '{error.name}', and it is not installed here: run 'pip "
            f"install pyserini=={version('pyserini')}' in this environment. Only Pyserini's "
            "searcher and its names of topics need it"
        ) from error
    except URLError as error:
        raise TdvError(
            f"Pyserini {version('pyserini')} fetches its list of indexes from the network when "
            f"imported, and could not ({error.reason}): connect, or install one before 2.4; what "
            "tdv-lucene does by itself (all but Pyserini's own searcher and topics by name) needs "
            "no network"
        ) from error
    except Exception as error:
        from jnius import JavaException  # it starts a JVM, if there is none

        if not isinstance(error, JavaException):
            raise
        raise TdvError(
            f"Pyserini {version('pyserini')} asks Anserini for the list of indexes when imported, "
            "and Anserini could not fetch it from the network "
            f"({error.innermessage or error.classname}): connect, or use Pyserini's own Anserini"
        ) from error
