"""The options of learning, checked before anything is read."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .. import options
from ..analysis import Analysed
from ..errors import TdvError
from ..matrix.config import OfMatrix
from ..options import PYTHON_ONLY, TRAINING, Effect, option
from ..ranking import MODELS, PARAMETERS, Parameter, SearchParameters, ranking_function
from ..ranking.parameters import ForModel, Parameters, options_of
from ..values.posting_rule import REDUCTIONS
from ..values.term_values import MEASURE
from .selection import MEASURES

if TYPE_CHECKING:
    from ..matrix.term_vectors import TermVectors
    from .prior import Prior


FEWEST_QUERIES = 5  # from fewer nothing is learned where there is a prior: they only measure it


@dataclass(frozen=True)
class Recipe:
    """The numbers of learning that tests, the prior and the paper's experiment change.

    Exact statistics, Lucene's own idf, a listwise loss, stopped by validation.
    """

    name = "default"
    # Start from a prior (see :mod:`.prior`), and move away only as far as the queries make sure.
    # Else TDVs start at 1 and parameters at Anserini's.
    prior: bool = True
    lead: bool = True  # use a first-position boost, if the matrix has positions
    # Learn TDVs; else all are the same, and only the boost, the search's parameters and the choice
    # of postings are learned.
    values: bool = True
    max_steps: int = 160
    check_every: int = 40  # steps after which a training may be stopped
    learning_rate: float = 1e-2  # Adam's, falling to a tenth along a cosine
    l2: float = 1e-1  # penalty on the squared length of w (b is free)
    folds: int = 5  # at least 2: each is measured with a training on the others
    reductions: tuple[float, ...] = REDUCTIONS  # operating points

    def __post_init__(self) -> None:
        if self.folds < 2:
            raise TdvError(f"folds is {self.folds}, and learning holds one out: pass 2 or more")


@dataclass(frozen=True, kw_only=True)
class _Training(ForModel, options.OwnDocuments, options.Seed):
    recipe: Recipe | None = option(
        None, "Every number that learning uses; None for the default ones.", flag=PYTHON_ONLY
    )
    measure: str = option(
        MEASURE,
        "Recommend a reduction by this measure: R@100 suits a first stage before a re-ranker.",
        choices=MEASURES,
        group=TRAINING,
    )
    pool: int | None = option(
        None,
        "Learn from this many documents: judged ones, those found by searches, and others at "
        "random. 0 uses all.  [default: 100,000 if there are more than 300,000, else all]",
        metavar="DOCUMENTS", least=0, remedy="0 learns from all documents; try 100000",
        group=options.RESOURCES,
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class TermValuesConfig(_Training):
    """Options of :func:`tdv_lucene.learn_term_values`."""

    vectors: TermVectors | None = option(
        None, "Word vectors of the terms; None makes them from the matrix (LSA).", flag=PYTHON_ONLY
    )
    parameters: SearchParameters | Mapping[str, float] | None = option(
        None,
        "k1, b and mu that search will use, or some of them by name, as {'k1': 1.2}. Learning "
        "chooses those that are not given, and the first-position boost, on the training queries "
        "(see tuning_before_learning).",
        flag=PYTHON_ONLY,
    )
    prior: Prior | None = option(
        None, "What learning starts from; None for the prior of the package.", flag=PYTHON_ONLY
    )


def _fixed(each: Parameter) -> str:
    default = f"{each.anserini:g}"
    if each.is_tuned:
        default = f"tuned on the training queries, starting from the prior's or {default}"
    return f"Fix {each.title} at search.  [default: {default}]"


@dataclass(frozen=True, kw_only=True)
class LearnConfig(
    _Training,
    Parameters,
    OfMatrix,
    options.TopicField,
    Analysed,
    options.OfField,
    options.Named,
    options.Overwrite,
    numbers=options_of(_fixed, group=TRAINING),
):
    """Options of :func:`tdv_lucene.learn_from_index`."""

    no_judgements: bool = option(
        False,
        "Learn nothing: write the built-in prior's TDVs, which 'prune' uses without --tdv. Cannot "
        "be combined with --topics or --qrels.",
    )
    vectors: str | os.PathLike[str] | None = option(
        None,
        "Use word vectors from 'embed', or from a fastText, word2vec or NumPy file (see 'embed "
        "--help').  [default: LSA]",
        metavar="PATH", group=options.VECTORS,
    )  # fmt: skip
    prior: bool = option(
        True, "Start from the built-in prior, learned on other judged collections.",
        group=TRAINING,
    )  # fmt: skip
    lead: bool = option(
        True,
        "Learn a first-position boost: a term that first occurs early in a document counts more. "
        "No effect on an index without positions.",
        group=TRAINING,
    )
    term_values: bool = option(
        True,
        "Learn TDVs. With --no-values, use one weight for all terms, and tune only parameters, "
        "boost and pruning. The result suits queries unlike the training queries better.",
        flag="values", group=TRAINING,
    )  # fmt: skip

    EFFECTS = (
        Effect(
            ("topics", "qrels", "topic_field", "topic_reader", "remove_query", "id_field",
             *Analysed.OPTIONS,
             "vectors", "prior", "term_values", "seed", *PARAMETERS, "measure", "pool"),
            "no_judgements", "nothing is learned, and nothing measured", only=(False,)
        ),
        Effect(
            ("vectors", "prior", "term_values", *PARAMETERS, "measure"),
            "qrels", "from queries without judgements nothing is learned", unless=(None,)
        ),
        *(
            Effect(names, "model", f"only {ranking_function(name).title} has such a parameter",
                   only=(name, None))
            for name, names in MODELS.items() if names
        ),
        Effect(("vectors",), "term_values", "only learned TDVs need vectors", only=(True,)),
    )  # fmt: skip
