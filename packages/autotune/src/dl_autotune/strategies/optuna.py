"""Optuna's samplers with the interface ask and tell; needs the package optuna."""

from __future__ import annotations

from typing import Any

from ..errors import TuningError
from ..spaces import SearchSpace
from .strategy import Outcome, Strategy

_TRIES = 20
"""Number of samples for one point: samplers ignore constraints, and repeat points."""


def optuna_itself() -> Any:
    """Import the package optuna.

    :raises TuningError: it is not installed.
    """
    try:
        import optuna
    except ImportError as error:
        raise TuningError(
            "[search] strategy optuna needs the package optuna: pip install 'dl-autotune[optuna]'"
        ) from error
    return optuna


class OptunaSampler(Strategy):
    """Adapter for a sampler of Optuna, by default its tree-structured Parzen estimator.

    The sampler sees numeric parameters as indices of their values, and others as categories.
    Invalid samples are reported to it as failed, without counting as evaluations; after some of
    them, random points are proposed.

    :param sampler: function that creates a sampler from a seed; None: ``TPESampler``.
    :raises TuningError: optuna is not installed.
    """

    def __init__(self, space: SearchSpace, *, seed: int = 0, sampler: Any = None) -> None:
        super().__init__(space, seed=seed)
        optuna = optuna_itself()
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self._failed = optuna.trial.TrialState.FAIL
        made = (sampler or optuna.samplers.TPESampler)(seed=seed)
        self._study = optuna.create_study(sampler=made)
        self._asked: dict[int, Any] = {}

    def propose(self, count: int) -> list[int]:
        """Return the points that the sampler proposes."""
        found: list[int] = []
        for _ in range(count * _TRIES):
            if len(found) == count:
                return found
            trial = self._study.ask()
            point = self._point(trial)
            if point is None or self.was_proposed(point) or point in self._asked:
                self._study.tell(trial, state=self._failed)
                continue
            self._asked[point] = trial
            found.append(point)
        return found or self.fresh(count)

    def _point(self, trial: Any) -> int | None:
        config = {}
        for parameter in self.space.parameters:
            values = parameter.values
            if len(values) == 1:
                config[parameter.name] = values[0]
            elif parameter.numeric:
                config[parameter.name] = values[
                    trial.suggest_int(parameter.name, 0, len(values) - 1)
                ]
            else:
                config[parameter.name] = trial.suggest_categorical(parameter.name, values)
        return self.space.point(config)

    def learn(self, outcome: Outcome) -> None:
        """Report the value of the sampler's own trial; it does not learn from other points."""
        trial = self._asked.pop(outcome.point, None)
        if trial is None:
            return
        if outcome.value is None:
            self._study.tell(trial, state=self._failed)
        else:
            self._study.tell(trial, outcome.value)
