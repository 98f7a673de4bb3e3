"""What proposes: strategies that see a space and numbers, and never a device."""

from __future__ import annotations

from ..errors import TuningError
from ..spaces import SearchSpace
from .exhaustive import Exhaustive
from .genetic import Genetic
from .guided_climbing import GuidedClimbing
from .hill_climbing import HillClimbing
from .random_search import RandomSearch
from .search import Budget, search
from .strategy import Outcome, Strategy
from .surrogate import Surrogate

STRATEGIES: dict[str, type[Strategy]] = {
    "exhaustive": Exhaustive,
    "random": RandomSearch,
    "hill-climbing": HillClimbing,
    "guided-climbing": GuidedClimbing,
    "genetic": Genetic,
    "surrogate": Surrogate,
}

DEFAULT = "guided-climbing"
"""The best of them on recorded spaces, in the mean: `nox -s bench-autotune`."""

__all__ = [
    "DEFAULT",
    "STRATEGIES",
    "Budget",
    "Exhaustive",
    "Genetic",
    "GuidedClimbing",
    "HillClimbing",
    "Outcome",
    "RandomSearch",
    "Strategy",
    "Surrogate",
    "make_strategy",
    "search",
]


def make_strategy(name: str, space: SearchSpace, *, seed: int) -> Strategy:
    """A strategy by its name.

    :raises TuningError: there is none of that name.
    """
    if name not in STRATEGIES:
        raise TuningError(f"[search] strategy {name!r} is none of {', '.join(STRATEGIES)}")
    return STRATEGIES[name](space, seed=seed)
