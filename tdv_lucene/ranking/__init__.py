"""Ranking functions: an object each, and the only place that knows their names.

Whatever depends on the ranking function asks its object. Manifests and records hold its name.
"""

from __future__ import annotations

from .functions import ANSERINI_DEFAULTS as ANSERINI_DEFAULTS
from .functions import ANY_MODEL as ANY_MODEL
from .functions import DEFAULT_MODEL as DEFAULT_MODEL
from .functions import GRIDS as GRIDS
from .functions import MODELS as MODELS
from .functions import NAMED_DEFAULTS as NAMED_DEFAULTS
from .functions import PARAMETERS as PARAMETERS
from .functions import Array as Array
from .functions import Parameter as Parameter
from .functions import RankingFunction as RankingFunction
from .functions import Statistics as Statistics
from .functions import at_scale as at_scale
from .functions import model_for as model_for
from .functions import ranking_function as ranking_function
from .parameters import Baking as Baking
from .parameters import SearchParameters as SearchParameters
