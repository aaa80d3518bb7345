"""Files of topics in the formats that Anserini reads."""

from __future__ import annotations

import json
from collections.abc import Iterable
from urllib.parse import quote_plus

Topic = tuple[str, str, str, str]
"""Id, title, description and narrative."""

_TOPICS = {
    "Trec": "<top>\n<num> Number: {}\n<title> {}\n\n<desc> Description:\n{}\n\n"
    "<narr> Narrative:\n{}\n</top>\n",
    "Trec of FIRE": "<top lang='hi'>\n<num>{}</num>\n<title>{}</title>\n<desc>\n{}\n</desc>\n"
    "<narr>{}</narr>\n</top>\n",
    "Trec of Core": "<top>\n\n<num> Number: {} </num>\n<title>\n{}\n</title>\n\n<desc> Description:"
    "\n{}\n</desc>\n\n<narr> Narrative:\n{}\n</narr>\n\n</top>\n",
    "Webxml": '  <topic number="{}" type="faceted">\n    <query>{}</query>\n'
    '    <description>{}</description>\n    <subtopic number="1">{}</subtopic>\n  </topic>\n',
    "Covid": '<topic number="{}">\n<query>{}</query>\n<question>{}</question>\n'
    "<narrative>\n{}\n</narrative>\n</topic>\n",
    "Ntcir": "<query>\n  <qid>{}</qid>\n  <content>{}</content>\n"
    "  <description>{}</description>\n</query>\n",
    "Microblog": "<top>\n<num> Number: MB{} </num>\n<query> {} </query>\n"
    "<querytime> Tue Feb 08 2011 </querytime>\n<querytweettime> 34 </querytweettime>\n</top>\n\n",
    "Cacm": "<DOC>\n<DOCNO>{}</DOCNO>\n{}\n</DOC>\n",
    "Qa": "<QApairs id='{}'>\n<question>\n{}\n</question>\n</QApairs>\n",
    "Web": "{}:{}\n",
    "TsvInt": "{}\t{}\n",
    "TsvString": "{}\t{}\t{}\n",
}
_AROUND = {
    "Webxml": ("<webtrack2009>\n", "</webtrack2009>\n"),
    "Covid": ('<?xml version="1.0" encoding="UTF-8"?>\n<topics task="x">\n', "</topics>\n"),
    "Ntcir": ("<queries>\n", "</queries>\n"),
}
FORMATS = (*_TOPICS, "Car", "JsonString", "EpidemicQA")


def write_topics(form: str, topics: Iterable[Topic]) -> str:
    """Return a file of topics in a format, by the name of Anserini's reader and an addition."""
    if form == "Car":
        return "".join(f"enwiki:{quote_plus(title)}\n" for _, title, _, _ in topics)
    if form == "JsonString":
        rows = [{"id": q, "title": t, "description": d, "narrative": n} for q, t, d, n in topics]
        return "".join(json.dumps(row) + "\n" for row in rows)
    if form == "EpidemicQA":
        keys = ("question_id", "query", "question", "background")
        return json.dumps([dict(zip(keys, topic)) for topic in topics], indent=1)
    before, after = _AROUND.get(form, ("", ""))
    return before + "".join(_TOPICS[form].format(*topic) for topic in topics) + after
