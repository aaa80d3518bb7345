"""The demonstration's queries: what somebody who looks for a piece of documentation may type.

Four kinds, told apart by their query ids. Each takes from a document what names it and keeps the
rest to be found, or asks for names that stand in it:

heading
    The heading of a section of the language reference; the section without it is the answer.
names
    A module with two of the parameters or exceptions that its documentation names; every document
    of the module that names both is an answer. Nothing is taken out.
sentence
    A sentence from a text's second paragraph on.
summary
    What a docstring says first, in one line; the object's remaining text is the answer.

A document answers one query at most, so no division of the queries shares an answer.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from ..errors import TdvError, argument

_WORDS_LEFT = 25  # of a document without its query: enough to be found by
_HEADING_WORDS = range(2, 13)
_SUMMARY_WORDS = range(4, 21)
_SENTENCE_WORDS = range(8, 26)
_MOST_ANSWERS = 5  # to two names: more is a subject, not a search
_SENTENCE = re.compile(r"(?:^|(?<=[.!?] ))[A-Z][^.!?]*\.(?=\s|$)")
_PLAIN_WORD = re.compile(r"[A-Za-z][A-Za-z'-]*[,;.]?")
_UNDERLINED = re.compile(r"(.+?) [*=\-~^]{3,}")
_PARAMETER = re.compile(
    r"\*([a-z]\w{2,})\*|'([a-z]\w{2,})' --|:param (?:\w+ )?(\w{3,}):"
    r"|^\s*([a-z]\w{2,})(?: --|:) ",
    re.MULTILINE,
)  # as docstrings of the standard library write them
_EXCEPTION = re.compile(r"\b([A-Z]\w*(?:Error|Warning|Exception))\b")


@dataclass(frozen=True)
class Query:
    """A query and the documents that answer it, each with the text to take out of it."""

    kind: str
    text: str
    answers: Mapping[str, str]


@dataclass(frozen=True)
class Documentation:
    """Documents by name: as read, and with one line a paragraph."""

    raw: Mapping[str, str]
    texts: Mapping[str, str]

    @classmethod
    def of(cls, raw: Mapping[str, str]) -> Documentation:
        """Join the lines of each paragraph, so that a sentence is one string."""
        return cls(raw, {name: _paragraphs(text) for name, text in raw.items()})

    def without(self, queries: list[Query]) -> dict[str, str]:
        """The texts after each query's words were taken out."""
        left = dict(self.texts)
        for query in queries:
            for name, taken in query.answers.items():
                left[name] = left[name].replace(taken, "", 1).strip()
        return left


def choose_queries(documentation: Documentation, count: int, rng: random.Random) -> list[Query]:
    """Draw ``count`` queries of all kinds, in random order; no two share an answer.

    Raises
    ------
    TdvError
        When the documentation gives fewer.
    """
    chosen: list[Query] = []
    answering: set[str] = set()
    for find, share in _KINDS:
        wanted = len(chosen) + int(share * count) if share else count
        names = list(documentation.texts)
        rng.shuffle(names)
        for query in find(documentation, names, rng):
            if len(chosen) >= wanted:
                break
            if answering.isdisjoint(query.answers):
                chosen.append(query)
                answering.update(query.answers)
    if len(chosen) < count:
        raise TdvError(
            f"{argument('topics', count)} is too many: the documentation of this interpreter gives "
            f"{len(chosen)}"
        )
    rng.shuffle(chosen)
    return chosen


def _paragraphs(text: str) -> str:
    return "\n".join(" ".join(part.split()) for part in re.split(r"\n\s*\n", text.strip()))


def _headings(
    documentation: Documentation, names: list[str], rng: random.Random
) -> Iterator[Query]:
    bearing: dict[str, dict[str, str]] = {}  # heading -> section -> its first line
    for name in names:
        first, _, _ = documentation.texts[name].partition("\n")
        if name.startswith("help:") and (found := _UNDERLINED.fullmatch(first)):
            heading = found[1].replace('"', "")
            bearing.setdefault(heading, {})[name] = first
    for heading, answers in bearing.items():
        if len(heading.split()) in _HEADING_WORDS and all(
            _stays_long(documentation.texts[name], first) for name, first in answers.items()
        ):
            yield Query("heading", heading, answers)


def _names(documentation: Documentation, names: list[str], rng: random.Random) -> Iterator[Query]:
    words: dict[str, dict[str, set[str]]] = {}  # module -> document -> its words
    for name, text in documentation.texts.items():
        words.setdefault(_module(name), {})[name] = set(re.findall(r"\w+", text))
    for name in names:
        module = _module(name)
        if module.startswith("_") or name.startswith("help:"):
            continue
        text = documentation.raw[name]
        found = {part for match in _PARAMETER.findall(text) for part in match if part}
        words_of = sorted(found.union(_EXCEPTION.findall(text)) - {module})
        if len(words_of) < 2:
            continue
        asked = rng.sample(words_of, 2)
        answers = {other: "" for other, inside in words[module].items() if inside.issuperset(asked)}
        if 1 <= len(answers) <= _MOST_ANSWERS:
            yield Query("names", " ".join([module, *asked]), answers)


def _sentences(
    documentation: Documentation, names: list[str], rng: random.Random
) -> Iterator[Query]:
    everything = _everything(documentation)
    for name in names:
        _, *paragraphs = documentation.texts[name].split("\n")
        candidates = [found for text in paragraphs for found in _SENTENCE.findall(text)]
        rng.shuffle(candidates)
        for sentence in candidates:
            if _is_plain(sentence, _SENTENCE_WORDS) and _stays_long(
                documentation.texts[name], sentence
            ):
                if everything.count(sentence.casefold()) == 1:
                    yield Query("sentence", sentence, {name: sentence})
                    break


def _summaries(
    documentation: Documentation, names: list[str], rng: random.Random
) -> Iterator[Query]:
    everything = _everything(documentation)
    for name in names:
        if name.startswith("help:"):
            continue
        # Modules written in C may begin with the call's form.
        for line in documentation.texts[name].split("\n")[:2]:
            if _is_plain(line, _SUMMARY_WORDS) and _stays_long(documentation.texts[name], line):
                if everything.count(line.casefold()) == 1:
                    yield Query("summary", line, {name: line})
                break


_Find = Callable[[Documentation, list[str], random.Random], Iterator[Query]]
_KINDS: tuple[tuple[_Find, float], ...] = (
    (_headings, 0.15), (_names, 0.2), (_sentences, 0.2), (_summaries, 0.0),
)  # fmt: skip
"""Kind and its share of the queries, the rarest first; the last makes up the number."""


def _module(name: str) -> str:
    return name.partition(".")[0]


def _everything(documentation: Documentation) -> str:
    return "\n".join(documentation.texts.values()).casefold()


def _is_plain(text: str, lengths: range) -> bool:
    """Whether it is words only, no code, and of such a length."""
    words = text.split()
    return len(words) in lengths and all(_PLAIN_WORD.fullmatch(word) for word in words)


def _stays_long(text: str, taken: str) -> bool:
    return len(text.split()) - len(taken.split()) >= _WORDS_LEFT
