"""Topics by the names Pyserini knows, read by Anserini."""

from __future__ import annotations

import difflib
import json
from typing import Any

from ..errors import TdvError
from ._jobs import java_class

_READER = "io.anserini.search.topicreader.TopicReader"


def read_named_topics(name: str) -> dict[str, str]:
    """Query id -> title of the topics Pyserini or Anserini calls ``name``, in Anserini's order.

    Anserini looks in the current folder, then in Pyserini's cache, and downloads otherwise.

    Raises
    ------
    TdvError
        When nothing has this name, or the topics cannot be downloaded.
    """
    symbol = _resolve(name)
    from jnius import JavaException

    try:
        topics = java_class(_READER).getTopicsWithStringIds(symbol)
    except JavaException as error:
        raise TdvError(
            f"the topics '{name}' are not stored on this machine and could not be fetched "
            f"({error.innermessage}): connect to the network once, or pass a topics file"
        ) from error
    fields = json.loads(java_class("tdvlucene.common.Json").of(topics))
    titles = {qid: topic["title"] for qid, topic in fields.items() if topic.get("title")}
    if not titles:
        raise TdvError(f"the topics '{name}' have no titles to search with: pass a topics file")
    return titles


def _resolve(name: str) -> Any:
    """Pyserini's own names first, then Anserini's, which are its file names without ends."""
    java_class(_READER)  # our JVM must run before Pyserini looks for one
    from pyserini.search._base import topics_mapping  # light: neither torch nor transformers

    symbol = topics_mapping.get(name)
    if symbol is None:
        enum = java_class("io.anserini.search.topicreader.Topics")
        symbol = enum.getByName(name)
    if symbol is None:
        close = difflib.get_close_matches(name, topics_mapping)
        hint = f" (did you mean {' or '.join(close)}?)" if close else ""
        raise TdvError(
            f"no such topics: '{name}' is neither a file nor a name Pyserini knows{hint}"
        )
    return symbol
