"""Kernel Tuner's strategies with ask and tell, and the error if it is not installed."""

from __future__ import annotations

import itertools
import math
import random
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from dl_autotune import SearchSpace, TuningError
from dl_autotune.strategies import Budget, Outcome, Strategy, kernel_tuner, make_strategy, search
from test_strategies import LARGE, SMALL, answer, slowness

NAMES = (
    *("basinhopping", "bayes_opt", "brute_force", "diff_evo", "dual_annealing"),
    *("firefly_algorithm", "genetic_algorithm", "greedy_ils", "greedy_mls", "hybrid_vndx"),
    *("adaptive_tabu_greywolf", "minimize", "mls", "nsga2", "ordered_greedy_mls", "pso"),
    *("random_sample", "simulated_annealing"),
)


def test_without_kernel_tuner_the_error_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "kernel_tuner.interface", None)
    monkeypatch.setitem(sys.modules, "kernel_tuner", None)
    with pytest.raises(TuningError, match=r"pip install 'dl-autotune\[kernel-tuner\]'"):
        make_strategy("kernel-tuner:pso", LARGE, seed=0)
    with pytest.raises(TuningError, match=r"is unknown; available: .*kernel-tuner:NAME"):
        make_strategy("kernel-tuner", LARGE, seed=0)


@pytest.fixture
def installed() -> None:
    pytest.importorskip("kernel_tuner", reason="needs kernel_tuner, which is an extra")


def evaluated(name: str, seed: int, count: int = 40) -> list[int]:
    """Return the points that a search evaluates; its thread has ended then."""
    threads = threading.active_count()
    strategy = make_strategy(f"kernel-tuner:{name}", LARGE, seed=seed, evaluations=count)
    found = [o.point for o in search(strategy, answer, Budget(evaluations=count))]
    assert threading.active_count() == threads
    return found


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("name", NAMES)
def test_each_strategy_follows_from_its_seed_alone(name: str) -> None:
    # Random numbers that an import draws are not part of the search.
    make_strategy(f"kernel-tuner:{name}", LARGE, seed=0)
    random.seed(5)
    np.random.seed(5)
    first = evaluated(name, 1)
    # The strategy draws from no global generator, and does not depend on one.
    drawn = (random.random(), np.random.random())
    random.seed(5)
    np.random.seed(5)
    assert drawn == (random.random(), np.random.random())
    assert evaluated(name, 1) == first
    assert len(set(first)) == len(first) == 40
    assert name == "brute_force" or evaluated(name, 2) != first


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("name", ["genetic_algorithm", "hybrid_vndx"])
def test_those_that_learn_beat_luck(name: str) -> None:
    best = min(v for v in map(slowness, range(LARGE.size)) if v is not None)

    def share(name: str) -> float:
        found = []
        for seed in range(6):
            values = [slowness(point) for point in evaluated(name, seed, 100)]
            found.append(best / min(v for v in values if v is not None))
        return float(np.mean(found))

    assert share(name) > share("random_sample") + 0.03


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("name", ["genetic_algorithm", "greedy_mls", "pso", "mls"])
def test_every_point_is_proposed_once_and_then_no_more(name: str) -> None:
    strategy = make_strategy(f"kernel-tuner:{name}", SMALL, seed=1)
    found: list[int] = []
    while points := strategy.ask(3):
        found += points
        strategy.tell([Outcome(p, None if p % 3 == 0 else float(p)) for p in points])
    strategy.close()
    assert sorted(found) == list(range(SMALL.size))


@pytest.mark.usefixtures("installed")
def test_results_of_other_processes_are_known() -> None:
    whole = evaluated("simulated_annealing", 3)
    # As stored by a run that was killed after these evaluations.
    resumed = make_strategy("kernel-tuner:simulated_annealing", LARGE, seed=3, evaluations=40)
    resumed.tell(answer(whole[:25]))
    assert [o.point for o in search(resumed, answer, Budget(evaluations=15))] == whole[25:]
    # The search has closed the strategy, which then returns to its previous state.
    after = search(resumed, answer, Budget(evaluations=5))
    assert len({o.point for o in after} - set(whole)) == 5


@pytest.mark.usefixtures("installed")
def test_a_population_is_proposed_in_parts_and_waited_for() -> None:
    strategy = make_strategy("kernel-tuner:genetic_algorithm", LARGE, seed=1)
    generation: list[int] = []
    while points := strategy.ask(4):
        assert len(points) <= 4
        generation += points
    # The whole batch is proposed before any value; then the strategy waits instead of drawing at
    # random.
    assert len(generation) == 26
    strategy.tell(answer(generation[:-1]))
    assert strategy.ask(4) == []
    strategy.tell(answer(generation[-1:]))
    assert len(strategy.ask(4)) > 0
    strategy.close()


@pytest.mark.usefixtures("installed")
def test_texts_and_truth_values_are_handed_over_as_they_are() -> None:
    space = SearchSpace(
        {"a": [True, False], "b": ["x", "y", "z"], "c": [0.5, 1.5, 2.5, 4.5], "d": [7], "e": [1, 2]}
    )
    for name in ("genetic_algorithm", "mls", "firefly_algorithm", "simulated_annealing"):
        strategy = make_strategy(f"kernel-tuner:{name}", space, seed=1)
        found = search(
            strategy, lambda ps: [Outcome(p, 1.0 + p) for p in ps], Budget(evaluations=100)
        )
        assert sorted(o.point for o in found) == list(range(space.size))


def faked(monkeypatch: pytest.MonkeyPatch, tune: Callable[..., Any], seconds: float) -> Strategy:
    """Replace the code of a strategy by a test's; the rest is Kernel Tuner's."""
    monkeypatch.setattr(kernel_tuner, "strategy_named", lambda name: tune)
    return kernel_tuner.KernelTuner(SMALL, seed=1, name="faked", seconds=seconds)


def one(points: Sequence[int]) -> list[Outcome]:
    return [Outcome(point, 1.0 + point) for point in points]


@pytest.mark.usefixtures("installed")
def test_it_sees_values_and_failures_of_the_points_it_asks_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[tuple[int, float]] = []

    def tune(space: Any, runner: Any, options: Any) -> None:
        from kernel_tuner.strategies.common import CostFunc

        cost = CostFunc(space, options, runner, snap=False)
        for point in (7, 8, 7):
            seen.append((point, cost([*SMALL.config(point).values()])))
        seen.append((-1, cost([8, 1, "x"])))

    strategy = faked(monkeypatch, tune, 60.0)
    assert strategy.ask(4) == [7]
    strategy.tell([Outcome(7, 2.5)])
    assert strategy.ask(4) == [8]
    strategy.tell([Outcome(8, None)])
    # The strategy was restarted without a new point, so that proposals are random now.
    assert len(strategy.ask(4)) == 4
    assert seen[:4] == [(7, 2.5), (8, sys.float_info.max), (7, 2.5), (-1, sys.float_info.max)]
    assert len(seen) > 4


@pytest.mark.usefixtures("installed")
def test_one_that_repeats_itself_is_at_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    def tune(space: Any, runner: Any, options: Any) -> None:
        for _ in itertools.count():
            runner.run([space.list[3]], options)

    found = search(faked(monkeypatch, tune, 60.0), one, Budget(evaluations=12))
    assert found[0].point == 3
    assert len({outcome.point for outcome in found}) == 12


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("how", "message"), [("hang", "asked nothing for 0.5 s"), ("raise", "ZeroDivisionError")]
)
def test_one_that_hangs_or_fails_later_is_replaced_by_luck(
    how: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def tune(space: Any, runner: Any, options: Any) -> None:
        runner.run([space.list[3]], options)
        while how == "hang":
            pass
        math.prod([1 / 0])

    threads = threading.active_count()
    with pytest.warns(RuntimeWarning, match=rf"strategy faked failed: .*{message}"):
        found = search(faked(monkeypatch, tune, 0.5), one, Budget(evaluations=12))
    assert found[0].point == 3
    assert len({outcome.point for outcome in found}) == 12
    assert threading.active_count() == threads


@pytest.mark.usefixtures("installed")
def test_one_that_fails_at_once_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def tune(space: Any, runner: Any, options: Any) -> None:
        raise ModuleNotFoundError("no module of that name")

    with pytest.raises(TuningError, match="strategy faked failed: ModuleNotFoundError: no module"):
        faked(monkeypatch, tune, 60.0).ask()
    monkeypatch.undo()
    with pytest.raises(TuningError, match=r"magic' is unknown; available: .*kernel-tuner:pso"):
        make_strategy("kernel-tuner:magic", LARGE, seed=0)


@pytest.mark.usefixtures("installed")
def test_an_evaluation_that_raises_ends_the_thread() -> None:
    def broken(points: Sequence[int]) -> list[Outcome]:
        raise OSError("the device is gone")

    threads = threading.active_count()
    strategy = make_strategy("kernel-tuner:genetic_algorithm", LARGE, seed=1)
    with pytest.raises(OSError, match="the device is gone"):
        search(strategy, broken, Budget(evaluations=10))
    assert threading.active_count() == threads


@pytest.mark.usefixtures("installed")
def test_a_space_that_cannot_be_listed_is_refused() -> None:
    huge = SearchSpace({f"p{i}": range(32) for i in range(10)})
    with pytest.raises(
        TuningError, match=r"lists the whole space, which has 1,125,899,906,842,624"
    ):
        make_strategy("kernel-tuner:pso", huge, seed=0)
