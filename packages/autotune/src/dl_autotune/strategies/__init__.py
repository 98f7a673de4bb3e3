"""Strategies, which propose points of a space and see measured values, but never a device."""

from __future__ import annotations

from ..errors import TuningError
from ..spaces import SearchSpace
from .exhaustive import Exhaustive
from .genetic import Genetic
from .guided_climbing import GuidedClimbing
from .hill_climbing import HillClimbing
from .kernel_tuner import PREFIX, KernelTuner, strategy_named
from .prior import Known, Prior
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

OPTIONAL = ("optuna", "kernel-tuner:NAME")
"""Strategies of other projects, extras of this wheel. NAME is a strategy of Kernel Tuner,
such as genetic_algorithm.
"""

DEFAULT = "guided-climbing"
"""The strategy with the best mean result on recorded spaces: `nox -s bench-autotune`."""

__all__ = [
    "DEFAULT",
    "OPTIONAL",
    "STRATEGIES",
    "Budget",
    "Exhaustive",
    "Genetic",
    "GuidedClimbing",
    "HillClimbing",
    "Known",
    "Outcome",
    "Prior",
    "RandomSearch",
    "Strategy",
    "Surrogate",
    "check_strategy",
    "make_strategy",
    "search",
]


def check_strategy(name: str) -> None:
    """Check that a strategy is available, before any work.

    :raises TuningError: the strategy is unknown, or a package that it needs is not installed.
    """
    if name == "optuna":
        from .optuna import optuna_itself

        optuna_itself()
    elif name.startswith(PREFIX):
        strategy_named(name.removeprefix(PREFIX))
    elif name not in STRATEGIES:
        known = ", ".join((*STRATEGIES, *OPTIONAL))
        raise TuningError(f"[search] strategy {name!r} is unknown; available: {known}")


def make_strategy(
    name: str,
    space: SearchSpace,
    *,
    seed: int,
    evaluations: int | None = None,
    prior: Prior | None = None,
) -> Strategy:
    """Create a strategy by its name.

    :param evaluations: planned number of evaluations, for strategies with a schedule.
    :param prior: knowledge from earlier studies. ``guided-climbing`` learns how far to believe it;
        all others begin with its points.
    :raises TuningError: the strategy is unknown, or a package that it needs is not installed.
    """
    check_strategy(name)
    if name == "guided-climbing":
        return GuidedClimbing(space, seed=seed, prior=prior)
    made = _make(name, space, seed, evaluations)
    if prior is not None:
        made.begin_with(prior.points)
    return made


def _make(name: str, space: SearchSpace, seed: int, evaluations: int | None) -> Strategy:
    if name == "optuna":
        from .optuna import OptunaSampler

        return OptunaSampler(space, seed=seed)
    if name.startswith(PREFIX):
        name = name.removeprefix(PREFIX)
        return KernelTuner(space, seed=seed, name=name, evaluations=evaluations)
    return STRATEGIES[name](space, seed=seed)
