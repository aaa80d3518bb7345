"""Which of the analyses that Anserini has for English may have made a dictionary's terms.

They are used for text of any language. A stemmer leaves what it made as it is, nearly always, and
changes many words that it did not make. A list of stop words leaves none of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from ..analysis import STOP_WORDS, Analysis
from ..jvm.analysis import analyze
from ..jvm.dictionary import Dictionary

_STANDARD = Analysis(analyzer="org.apache.lucene.analysis.standard.StandardAnalyzer")
"""As English without stop words and stemmer, but that it leaves the possessive's ending."""
_POSSESSIVE = re.compile("['\u2019\uff07][sS]$")
_BARE = Analysis(stemmer="none", stopwords=())
_STEMMERS = {name: Analysis(stemmer=name, stopwords=()) for name in ("porter", "krovetz")}

_OF_STANDARD = 0.99
"""Of the terms that Lucene's tokenizer of words made, those that it leaves as they are; of fewer,
text was split at blanks, or into parts of words."""
_FREQUENT = 1000
"""Terms that show the tokenizer; words among which stop words stand."""
_ENOUGH = 50
"""Words that tell something."""
_APART = 0.05
"""The share of a text's words that a stemmer leaves grows by so much, at least, by stemming, in
languages where it tells that a stemmer was there."""
_NEVER = 2.0
_BOUNDS = {"porter": (0.84, 0.97), "krovetz": (0.98, _NEVER)}
"""In any language, the share of a stemmer's own stems that it leaves, at least, and that of other
words, at most."""
_STEMS = ("be", "it", "on")
"""Porter's stems of being, its and one."""
_FEW, _MANY = 2, 5
"""Stop words, without these stems, among the frequent words: so many at most where they were left
out before stemming, such as the stem of the German 'ins', and at least where they were not."""


class EnglishTerms:
    """What a dictionary's terms say of them.

    ``terms`` are its most frequent ones, those first. ``says_enough`` tells whether there are terms
    to judge by: words in English letters, or what are no words.
    """

    def __init__(self, terms: Sequence[str], dictionary: Dictionary) -> None:
        self._terms, self._words = terms, _words(terms)
        self._is_of_standard = _share_left(terms[:_FREQUENT], _STANDARD) >= _OF_STANDARD
        self._has_possessives = sum(bool(_POSSESSIVE.search(term)) for term in terms) > 1
        self.says_enough = len(self._words if self._is_of_standard else terms) >= _ENOUGH
        self._left = {name: _share_left(self._words, of) for name, of in _STEMMERS.items()}
        stop = dictionary.look_up([" ".join(STOP_WORDS)], Analysis(pretokenized=True))
        self._has_stop_words = bool(stop.known)

    def analyses(self, texts: Sequence[str]) -> list[Analysis]:
        """Those that are possible where ``texts`` are in the dictionary's language, Anserini's
        default first; all that are possible in any language without."""
        if not self._is_of_standard:
            return [Analysis(pretokenized=True)]
        if self._has_possessives:
            return [_STANDARD]
        spans = _spans(texts)
        return [
            Analysis(stemmer=stemmer, stopwords=words)
            for words in (None, ())
            for stemmer in ("porter", "none", "krovetz")
            if self._may_be_stemmed(stemmer, spans)
            and self._may_have_left(stemmer, words is not None, texts)
        ]

    def _may_be_stemmed(self, stemmer: str, spans: Mapping[str, tuple[float, float]]) -> bool:
        """Whether no stemmer's share of words speaks against it."""
        if not self.says_enough:
            return True
        was_there = {name: self._left[name] >= high for name, (_, high) in spans.items()}
        if stemmer == "none":
            return not any(was_there.values())
        # Krovetz's leaves most of Porter's stems, but not the other way round.
        is_porters = was_there["porter"] and stemmer != "porter"
        return self._left[stemmer] > spans[stemmer][0] and not is_porters

    def _may_have_left(self, stemmer: str, keeps: bool, texts: Sequence[str]) -> bool:
        """Whether that it keeps stop words, or not, agrees with those in the dictionary."""
        if not self._has_stop_words:
            return not keeps  # the same terms, for what is in the dictionary
        if stemmer == "none":
            return keeps
        if not self.says_enough:
            return True
        words = [term for term in self._terms if term.isascii() and term.isalpha()][:_FREQUENT]
        found = _stop_words(words)
        if not keeps:
            return found < _MANY
        would_show = len(words) == _FREQUENT or _stop_words(_tokens(texts, _BARE)) > _MANY
        return found > _FEW or not would_show


def _stop_words(words: Iterable[str]) -> int:
    return len({*words} & {*STOP_WORDS} - {*_STEMS})


def _spans(texts: Sequence[str]) -> dict[str, tuple[float, float]]:
    """By stemmer, the share of words left by it up to which it was not there, and from which on it
    was: of what it leaves of a text before and after stemming it, the middle third."""
    bare = _tokens(texts, _BARE)
    spans = {}
    for name, stemmer in _STEMMERS.items():
        low, high = _BOUNDS[name]
        if len(bare) >= _ENOUGH:
            before = _share_left(bare, stemmer)
            apart = _share_left(_tokens(texts, stemmer), stemmer) - before
            high = _NEVER
            if apart > _APART:
                low, high = max(low, before + apart / 3), max(low, before + 2 * apart / 3)
        spans[name] = low, high
    return spans


def _tokens(texts: Sequence[str], analysis: Analysis) -> list[str]:
    """The different words of a text."""
    return _words({token for tokens in analyze(texts, analysis=analysis) for token in tokens})


def _words(terms: Iterable[str]) -> list[str]:
    """Those that a stemmer of English may change."""
    return [term for term in terms if re.fullmatch("[a-z]{3,}", term)]


def _share_left(terms: Sequence[str], analysis: Analysis) -> float:
    """Of the terms, those that an analysis leaves as they are."""
    made = analyze(terms, analysis=analysis)
    return sum(one == [term] for term, one in zip(terms, made)) / (len(terms) or 1)
