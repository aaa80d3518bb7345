"""The two ways of learning, by name, with every number they use."""

from __future__ import annotations

from dataclasses import dataclass

from ..core import paper, scoring
from ..errors import TdvError

MODELS = ("bm25", "qld", "tfidf")


@dataclass(frozen=True)
class Parameters:
    """Parameters of the ranking functions: training and search use the same.

    Attributes
    ----------
    k1, b : float
        Of BM25. Anserini's defaults.
    mu : float
        Of the Dirichlet language model.
    """

    k1: float = 0.9
    b: float = 0.4
    mu: float = 1000.0

    def __post_init__(self) -> None:
        if not self.k1 >= 0:
            raise TdvError(f"k1 must not be negative, got {self.k1}: Anserini uses 0.9")
        if not 0 <= self.b <= 1:
            raise TdvError(f"b must lie within [0, 1], got {self.b}: Anserini uses 0.4")
        if not self.mu > 0:
            raise TdvError(f"mu must be positive, got {self.mu}: Anserini uses 1000")

    def similarity(self, model: str, scale: int | None = None) -> scoring.Similarity:
        """Return the model as Lucene computes it, on frequencies multiplied by ``scale``.

        BM25 with k1 * scale and the language model with mu * scale rank as they did unscaled.
        """
        times = scale or 1
        return {
            "bm25": scoring.Bm25(self.k1 * times, self.b),
            "qld": scoring.Dirichlet(self.mu * times),
            "tfidf": scoring.TfIdf(),
        }[model]

    def paper_similarity(self, model: str) -> paper.PaperSimilarity:
        """Return the model as the paper writes it."""
        return {
            "bm25": paper.PaperBm25(self.k1, self.b),
            "qld": paper.PaperDirichlet(self.mu),
            "tfidf": paper.PaperTfIdf(),
        }[model]


@dataclass(frozen=True)
class DefaultRecipe:
    """Exact statistics, the search's own idf, listwise loss, validation stop.

    Attributes
    ----------
    max_steps, check_every : int
        Length of a training and how often the validation queries are ranked.
    queries_per_step, width : int
        Lists a step and candidates a list.
    learning_rate : float
        Adam's, falling to a tenth along a cosine.
    l2 : float
        Penalty on the squared length of w (b is free).
    depth : int
        Candidates a query to sample from.
    folds : int
    reductions : tuple of float
        Operating points.
    recommended_reduction : float
    """

    name = "default"
    max_steps: int = 200
    check_every: int = 20
    queries_per_step: int = 128
    width: int = 40
    learning_rate: float = 1e-2
    l2: float = 1e-2
    depth: int = 1000
    folds: int = 5
    reductions: tuple[float, ...] = (0.0, 0.15, 0.3, 0.45, 0.6, 0.7)
    recommended_reduction: float = 0.45


@dataclass(frozen=True)
class PaperRecipe:
    """The paper's training: batch-wise statistics, l1-based idf, hinge and l1, Adam.

    Attributes
    ----------
    pairs_per_step : int
        (query, relevant, non-relevant) triples a step.
    learning_rate : float
    sparsity : float
        lambda, within [0, 1].
    max_epochs, patience : int
        Epochs at most, and epochs without a better training nDCG@5 before stopping.
    depth : int
        Candidates a query that training nDCG@5 is measured on.
    folds : int
    """

    name = "paper"
    pairs_per_step: int = 32
    learning_rate: float = 1e-3
    sparsity: float = 1e-5
    max_epochs: int = 100
    patience: int = 10
    depth: int = 1000
    folds: int = 5

    def __post_init__(self) -> None:
        if not 0 <= self.sparsity <= 1:
            raise TdvError(f"sparsity (lambda) must lie within [0, 1], got {self.sparsity}")


RECIPES = {"default": DefaultRecipe, "paper": PaperRecipe}


def make_recipe(recipe: str | DefaultRecipe | PaperRecipe) -> DefaultRecipe | PaperRecipe:
    """Return the recipe of that name, or the one given."""
    if isinstance(recipe, (DefaultRecipe, PaperRecipe)):
        return recipe
    if recipe not in RECIPES:
        raise TdvError(f"no recipe '{recipe}': choose one of {', '.join(RECIPES)}")
    return RECIPES[recipe]()
