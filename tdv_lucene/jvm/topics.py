"""Topics and qrels by the names Pyserini knows, found by Anserini."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import TdvError
from ._jobs import java_class
from ._pyserini import importing_pyserini

_READER = "io.anserini.search.topicreader.TopicReader"


def read_named_topics(name: str, keys: Sequence[str] = ("title",)) -> dict[str, str]:
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
    found = {
        qid: next((topic[key] for key in keys if topic.get(key)), None)
        for qid, topic in fields.items()
    }
    texts = {qid: text for qid, text in found.items() if text is not None}
    if not texts:
        raise TdvError(f"the topics '{name}' have no {keys[0]} to search with: pass a topics file")
    return texts


def find_named_qrels(name: str) -> Path:
    """The file of the qrels Pyserini calls ``name``, downloaded where it is not stored.

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
        close = difflib.get_close_matches(name, getattr(_base, "qrels_mapping", {}))
        raise _unknown(name, close, "qrels") from error
    except JavaException as error:
        raise _not_fetched(name, error.innermessage, "qrels") from error
    except OSError as error:
        raise _not_fetched(name, str(error), "qrels") from error
    finally:
        system.setOut(out)


def _read_pyserini_1(name: str, known: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    symbol = _resolve(name, known)
    from jnius import JavaException

    try:
        topics = java_class(_READER).getTopicsWithStringIds(symbol)
    except JavaException as error:
        raise _not_fetched(name, error.innermessage) from error
    return json.loads(java_class("tdvlucene.common.Json").of(topics))


def _resolve(name: str, known: Mapping[str, Any]) -> Any:
    """Pyserini's own names first, then Anserini's, which are its file names without ends."""
    symbol = known.get(name)
    if symbol is None:
        enum = java_class("io.anserini.search.topicreader.Topics")
        symbol = enum.getByName(name)
    if symbol is None:
        raise _unknown(name, difflib.get_close_matches(name, known))
    return symbol


def _read_pyserini_2(
    name: str, get_topics: Callable[[str], Mapping[Any, Mapping[str, str]]]
) -> dict[str, dict[str, str]]:
    """Pyserini 2 fetches even the names of topics, and gives ids of digits as integers."""
    try:
        return {str(qid): dict(fields) for qid, fields in get_topics(name).items()}
    except ValueError as error:  # its word for a name it does not know
        raise _unknown(name, []) from error
    except OSError as error:
        raise _not_fetched(name, str(error)) from error


def _unknown(name: str, close: list[str], what: str = "topics") -> TdvError:
    hint = f" (did you mean {' or '.join(close)}?)" if close else ""
    return TdvError(f"no such {what}: '{name}' is neither a file nor a name Pyserini knows{hint}")


def _not_fetched(name: str, reason: str, what: str = "topics") -> TdvError:
    return TdvError(
        f"the {what} '{name}' are not stored on this machine and could not be fetched "
        f"({reason}): connect to the network once, or pass a file"
    )
