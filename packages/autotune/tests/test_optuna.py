"""Optuna's samplers with ask and tell, with our own sampler in place of Optuna's."""

from __future__ import annotations

import random
import sys
import types
from typing import Any

import pytest

from dl_autotune import SearchSpace, TuningError
from dl_autotune.strategies import Budget, Outcome, make_strategy, search

SPACE = SearchSpace(
    {"tile": [8, 16, 32, 64], "kind": ["a", "b"], "one": [7], "lanes": [4, 8, 16]},
    ["lanes * 2 <= tile"],
)


class Trial:
    def __init__(self, rng: random.Random) -> None:
        self._rng = rng

    def suggest_int(self, name: str, low: int, high: int) -> int:
        return self._rng.randint(low, high)

    def suggest_categorical(self, name: str, choices: Any) -> Any:
        return self._rng.choice(choices)


class Study:
    """Fake study that records the reported values."""

    def __init__(self, sampler: random.Random) -> None:
        self._rng = sampler
        self.told: list[tuple[float | None, str | None]] = []

    def ask(self) -> Trial:
        return Trial(self._rng)

    def tell(self, trial: Trial, value: float | None = None, state: str | None = None) -> None:
        self.told.append((value, state))


@pytest.fixture
def optuna(monkeypatch: pytest.MonkeyPatch) -> None:
    fake: Any = types.ModuleType("optuna")
    fake.logging = types.SimpleNamespace(WARNING=30, set_verbosity=lambda level: None)
    fake.trial = types.SimpleNamespace(TrialState=types.SimpleNamespace(FAIL="fail"))
    fake.samplers = types.SimpleNamespace(TPESampler=lambda seed: random.Random(seed))
    fake.create_study = lambda sampler: Study(sampler)
    monkeypatch.setitem(sys.modules, "optuna", fake)


@pytest.mark.usefixtures("optuna")
def test_each_valid_point_is_proposed_and_answered_once() -> None:
    strategy: Any = make_strategy("optuna", SPACE, seed=1)

    def evaluate(points: Any) -> list[Outcome]:
        return [Outcome(point, None if point % 5 == 0 else float(point)) for point in points]

    outcomes = search(strategy, evaluate, Budget(evaluations=1000))
    assert sorted(outcome.point for outcome in outcomes) == list(range(SPACE.size))
    told = strategy._study.told
    # Invalid and failed points are reported as failed; all others with their values.
    assert {state for value, state in told if value is None} == {"fail"}
    values = {value for value, state in told if state is None}
    assert values and values <= {float(o.value) for o in outcomes if o.value is not None}


def test_without_optuna_the_error_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(TuningError, match=r"pip install 'dl-autotune\[optuna\]'"):
        make_strategy("optuna", SPACE, seed=0)
    with pytest.raises(TuningError, match=r"is unknown; available: .*optuna"):
        make_strategy("optima", SPACE, seed=0)
