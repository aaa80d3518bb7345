"""Pyserini's own Python: its import, and topics, qrels and prebuilt indexes by its names."""

from __future__ import annotations

import contextlib
import difflib
import html
import json
import logging
import os
import re
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.parse import unquote_plus

from ..errors import TdvError
from ._jobs import java_class
from ._start import start

_log = logging.getLogger(__name__)

_READING = "io.anserini.search.topicreader"


@contextlib.contextmanager
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


def read_named_topics(name: str, keys: Sequence[str]) -> dict[str, str]:
    """Query id -> text of the topics Pyserini or Anserini calls ``name``, in Anserini's order.

    The text is what stands under the first of ``keys`` that a topic has.

    Anserini looks in the current folder, then in Pyserini's cache, and downloads otherwise.

    Raises :class:`TdvError` when nothing has this name, or the topics cannot be downloaded.
    """
    with importing_pyserini():
        from pyserini.search import _base  # light: neither torch nor transformers

    if hasattr(_base, "topics_mapping"):
        fields = _read_pyserini_1(name, _base.topics_mapping)
    else:
        fields = _read_pyserini_2(name, _base.get_topics)
    found = {qid: next(filter(None, map(topic.get, keys)), "") for qid, topic in fields.items()}
    texts = {qid: text for qid, text in found.items() if text}
    if not texts:
        raise TdvError(f"the topics '{name}' have no {keys[0]} to search with: pass a topics file")
    return texts


def read_with_anserini(reader: str, text: str, path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield ``path`` and the fields of each topic, as Anserini's reader of this name has them.

    Warn of words in ``text``, the content of ``path``, that it left out.

    Raises :class:`TdvError` when Anserini has no such reader, or it fails.
    """
    start()
    from jnius import JavaException

    try:
        java = java_class(f"{_READING}.{reader}TopicReader")
    except JavaException as error:
        raise TdvError(
            f"Anserini has no topic_reader {reader}: give a name such as Trec, Cacm "
            "or PrioritizedWeb, for one of its classes that are called NAMETopicReader"
        ) from error
    with tempfile.NamedTemporaryFile() as copy:  # unpacked, in UTF-8
        copy.write(text.encode())
        copy.flush()
        try:
            file = java_class("java.io.File")(copy.name)
            read = json.loads(java_class("tdvlucene.common.Json").of(java(file.toPath()).read()))
        except JavaException as error:
            raise TdvError(
                f"Anserini's {reader}TopicReader cannot read {path}: {error.innermessage or error}"
            ) from error
    taken = Counter(_words(" ".join(" ".join((qid, *read[qid].values())) for qid in read or ())))
    left = [word for word, number in Counter(_words(text)).items() if number > taken[word]]
    if left and text.lstrip()[:1] not in ("{", "["):
        _log.warning("%sTopicReader left out words of %s: %s", reader, path, ", ".join(left[:10]))
    for qid, fields in (read or {}).items():
        told: dict[str, Any] = {"id": qid, **fields}
        if "vector" in told:  # as JSON
            told["vector"] = json.loads(told["vector"])
        yield f"{path}", told


def _words(text: str) -> list[str]:
    """Return words and numbers of a text, without its tags and their labels, in their order."""
    plain = re.sub(
        r"<[^<>]*>|(Number|Topic|Description|Narrative)\s*:", " ", html.unescape(unquote_plus(text))
    )
    return [word.lstrip("0") or "0" for word in re.findall(r"\w+", plain)]


def find_named_qrels(name: str) -> Path:
    """Return the file of the qrels that Pyserini calls ``name``; download it if need be.

    Raises :class:`TdvError` when nothing has this name, or the qrels cannot be downloaded.
    """
    with importing_pyserini():
        from pyserini.search import _base

    from jnius import JavaException

    system = java_class("java.lang.System")
    out = system.out
    system.setOut(system.err)  # Anserini tells of a download where our results are printed
    try:
        return Path(_base.get_qrels_file(name))
    except FileNotFoundError as error:  # its word for a name it does not know
        raise _unknown(name, getattr(_base, "qrels_mapping", {}), "qrels") from error
    except JavaException as error:
        raise _not_fetched(name, error.innermessage, "qrels") from error
    except OSError as error:
        raise _not_fetched(name, str(error), "qrels") from error
    finally:
        system.setOut(out)


def _read_pyserini_1(name: str, known: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Pyserini's own names first, then Anserini's, which are its file names without ends."""
    symbol = known.get(name) or java_class(f"{_READING}.Topics").getByName(name)
    if symbol is None:
        raise _unknown(name, known)
    from jnius import JavaException

    try:
        topics = java_class(f"{_READING}.TopicReader").getTopicsWithStringIds(symbol)
    except JavaException as error:
        raise _not_fetched(name, error.innermessage) from error
    return json.loads(java_class("tdvlucene.common.Json").of(topics))


def _read_pyserini_2(
    name: str, get_topics: Callable[[str], Mapping[Any, Mapping[str, str]]]
) -> dict[str, dict[str, str]]:
    """Pyserini 2 fetches even the names of topics, and gives ids of digits as integers."""
    try:
        return {str(qid): dict(fields) for qid, fields in get_topics(name).items()}
    except ValueError as error:  # its word for a name it does not know
        raise _unknown(name, ()) from error
    except OSError as error:
        raise _not_fetched(name, str(error)) from error


def _unknown(name: str, known: Iterable[str], what: str = "topics") -> TdvError:
    hint = _did_you_mean(name, known)
    return TdvError(f"no such {what}: '{name}' is neither a file nor a name Pyserini knows{hint}")


def _not_fetched(name: str, reason: str, what: str = "topics") -> TdvError:
    return TdvError(
        f"the {what} '{name}' are not stored on this machine and could not be fetched "
        f"({reason}): connect to the network once, or pass a file"
    )


def find_index(index: str) -> str:
    """Return the folder of an index: ``index`` itself, or that of the prebuilt one of this name.

    A path that exists wins over a name. A prebuilt index that is not in Pyserini's cache yet
    (``~/.cache/pyserini/indexes``, or below ``PYSERINI_CACHE``) is downloaded by Pyserini, which
    checks its size and digest.

    Raises :class:`TdvError` when nothing has this name, or the index cannot be downloaded.
    """
    if os.path.exists(index) or not index or os.sep in index:
        return index
    try:
        with importing_pyserini():
            import pyserini.util as pyserini  # light: neither torch nor transformers
    except TdvError as error:
        raise TdvError(
            f"no such index: {index} is not a folder, and whether Pyserini has a prebuilt one of "
            f"this name cannot be looked up ({error})"
        ) from error
    known = {**pyserini.IMPACT_INDEX_INFO, **pyserini.TF_INDEX_INFO}
    if index not in known:
        raise TdvError(
            f"no such index: {index} is neither a folder nor a prebuilt index of Pyserini"
            + _did_you_mean(index, known)
        )
    try:
        # It prints on stdout, where programs read our results.
        with contextlib.redirect_stdout(sys.stderr):
            return pyserini.download_prebuilt_index(index, verbose=False)
    except (AssertionError, OSError, ValueError, tarfile.TarError) as error:
        raise TdvError(
            f"the prebuilt index '{index}' is not in Pyserini's cache and could not be downloaded "
            f"({error}): connect to the network, or give the folder of an index"
        ) from error


def _did_you_mean(name: str, known: Iterable[str]) -> str:
    """Name the known names that are like an unknown one, to end an error with."""
    close = difflib.get_close_matches(name, list(known))
    return f" (did you mean {' or '.join(close)}?)" if close else ""
