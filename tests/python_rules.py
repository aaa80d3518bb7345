"""A rule for postings written in Python, which Java asks of each of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tdv_lucene.jvm import start


def make_rule(
    drops: Callable[[int], bool], freq: Callable[[int, int, int, int], int], *,
    keeps_frequencies: bool = True, reads: bool = False,
) -> Any:  # fmt: skip
    """The rule as a Java ``PostingRule``: jnius starts the JVM when imported, hence not above.

    Parameters
    ----------
    drops
        Whether all postings of a term go.
    freq
        From term, tf, first position and length to the new frequency.
    reads
        Whether it needs lengths and positions.
    """
    start()
    from jnius import PythonJavaClass, java_method

    class Rule(PythonJavaClass):
        __javainterfaces__ = ["tdvlucene/rules/PostingRule"]
        __javacontext__ = "app"

        @java_method("(I)Z")
        def drops(self, term):
            return drops(term)

        @java_method("(IIII)I")
        def freq(self, term, tf, first, length):
            return freq(term, tf, first, length)

        @java_method("()Z")
        def keepsFrequencies(self):
            return keeps_frequencies

        @java_method("()Z")
        def readsLengths(self):
            return reads

        @java_method("()Z")
        def readsPositions(self):
            return reads

    return Rule()
