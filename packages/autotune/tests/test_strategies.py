"""Strategies propose each point at most once, depend only on the seed, and beat random search."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from dl_autotune import SearchSpace, TuningError
from dl_autotune.strategies import STRATEGIES, Budget, Outcome, make_strategy, search

SMALL = SearchSpace({"a": [1, 2, 4, 8], "b": [0, 1, 2], "c": ["x", "y"]}, ["a != 8 or b == 0"])
LARGE = SearchSpace(
    {
        "tile_m": [8, 16, 32, 64, 128],
        "tile_n": [8, 16, 32, 64, 128],
        "tile_k": [4, 8, 16, 32],
        "lanes": [1, 2, 4, 8],
        "unroll": [0, 1, 2],
        "layout": ["row", "column"],
    },
    ["tile_m % lanes == 0"],
)


def slowness(point: int) -> float | None:
    """Return the time of a kernel whose best tile is 64 x 32; many configurations fail."""
    c = {k: v for k, v in LARGE.config(point).items() if not isinstance(v, str)}
    if c["tile_m"] * c["tile_n"] * c["lanes"] > 16384:
        return None
    away = abs(math.log2(c["tile_m"] / 64)) + abs(math.log2(c["tile_n"] / 32))
    away += abs(math.log2(c["tile_k"] / 16)) + abs(c["unroll"] - 1) + abs(math.log2(c["lanes"] / 4))
    return 1.0 + 0.3 * away + (0.5 if LARGE.config(point)["layout"] == "row" else 0.0)


def answer(points: Sequence[int]) -> list[Outcome]:
    return [Outcome(point, slowness(point)) for point in points]


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_point_is_proposed_once_and_then_no_more(name: str) -> None:
    strategy = make_strategy(name, SMALL, seed=1)
    found: list[int] = []
    while points := strategy.ask(3):
        assert len(points) <= 3
        found += points
        strategy.tell([Outcome(p, None if p % 3 == 0 else float(p)) for p in points])
    assert sorted(found) == list(range(SMALL.size))
    assert strategy.ask(5) == []


@pytest.mark.parametrize("name", STRATEGIES)
def test_proposals_follow_from_the_seed(name: str) -> None:
    def points(seed: int) -> list[int]:
        made = make_strategy(name, LARGE, seed=seed)
        return [o.point for o in search(made, answer, Budget(evaluations=40))]

    assert points(1) == points(1)
    assert len(set(points(1))) == 40
    assert name == "exhaustive" or points(1) != points(2)


@pytest.mark.parametrize("name", STRATEGIES)
@pytest.mark.parametrize(
    "outcome", [lambda p: None, lambda p: 1.0], ids=["all invalid", "all the same"]
)
def test_useless_answers_stop_nobody(name: str, outcome: Callable[[int], float | None]) -> None:
    made = make_strategy(name, LARGE, seed=1)
    found = search(made, lambda ps: [Outcome(p, outcome(p)) for p in ps], Budget(evaluations=40))
    assert len({o.point for o in found}) == 40


@pytest.mark.parametrize("name", STRATEGIES)
def test_answers_may_be_late_and_known_points_are_not_proposed(name: str) -> None:
    made = make_strategy(name, LARGE, seed=1)
    known = LARGE.sample(30, seed=5)
    made.tell(answer(known))
    late: list[int] = []
    while len(late) < 60:
        points = made.ask(4)
        assert points
        late += points
    assert len(set(late)) == len(late)
    assert not set(late) & set(known)
    made.tell(answer(late[::-1]))
    assert made.ask(4)


@functools.cache
def regret(name: str) -> float:
    best = min(v for v in map(slowness, range(LARGE.size)) if v is not None)
    found = []
    for seed in range(4):
        made = make_strategy(name, LARGE, seed=seed)
        outcomes = search(made, answer, Budget(evaluations=60))
        found.append(best / min(o.value for o in outcomes if o.value is not None))
    return float(np.mean(found))


@pytest.mark.parametrize("name", ["hill-climbing", "guided-climbing", "genetic", "surrogate"])
def test_those_that_learn_beat_luck(name: str) -> None:
    assert regret(name) > regret("random") + 0.03


def test_a_budget_ends_by_evaluations_or_by_seconds() -> None:
    now = iter(np.arange(0.0, 100.0, 1.0))
    made = make_strategy("random", LARGE, seed=1)
    found = search(made, answer, Budget(1000, seconds=9.5), batch=2, clock=lambda: float(next(now)))
    assert len(found) == 18
    assert len(search(made, answer, Budget(evaluations=7), batch=4)) == 7
    for bad in (dict(evaluations=0), dict(seconds=-1.0), dict(seconds=math.nan)):
        with pytest.raises(TuningError, match="must be above 0"):
            Budget(**bad)  # type: ignore[arg-type]
    with pytest.raises(
        TuningError, match="strategy 'magic' is unknown; available: exhaustive, random"
    ):
        make_strategy("magic", LARGE, seed=1)


def test_a_huge_space_is_searched_without_being_listed() -> None:
    huge = SearchSpace({f"p{i}": range(1, 33) for i in range(10)}, ["p0 * p1 <= 64"])
    assert huge.size > 10**14
    for name in STRATEGIES:
        made = make_strategy(name, huge, seed=1)
        found = search(
            made,
            lambda points: [Outcome(p, 1.0 + sum(huge.positions([p])[0])) for p in points],
            Budget(evaluations=40),
        )
        assert len({o.point for o in found}) == 40


@pytest.mark.parametrize(
    ("outcome", "message"),
    [
        (Outcome(1, math.nan), "value of .*nan.* is not a positive, finite number"),
        (Outcome(1, math.inf), "inf.* is not a positive"),
        (Outcome(1, 0.0), r"value=0\.0.* is not a positive"),
        (Outcome(1, -2.0), r"value=-2\.0.* is not a positive"),
        (Outcome(1, "fast"), "'fast'.* is not a positive"),  # type: ignore[arg-type]
        (Outcome(-1, 1.0), "point=-1.* is outside the space"),
        (Outcome(SMALL.size, 1.0), f"an integer from 0 to {SMALL.size - 1}"),
        (Outcome(1.0, 1.0), r"point=1\.0.* is outside"),  # type: ignore[arg-type]
        (Outcome(True, 1.0), "point=True.* is outside"),
        ((1, 2.0), r"\(1, 2\.0\) is not an Outcome: give an Outcome"),
    ],
)
@pytest.mark.parametrize("name", STRATEGIES)
def test_an_invalid_answer_is_refused(name: str, outcome: Outcome, message: str) -> None:
    made = make_strategy(name, SMALL, seed=1)
    with pytest.raises(TuningError, match=message):
        made.tell([outcome])
    assert made.values == {}


@pytest.mark.parametrize(
    ("evaluate", "message"),
    [
        (lambda points: None, "evaluate returned None instead of Outcomes"),
        (lambda points: [], "no Outcome for points 0, 1, 2, 3"),
        (lambda points: [Outcome(p, 1.0) for p in points[1:]], "no Outcome for points 0:"),
        (
            lambda points: [Outcome(p, 1.0) for p in points] * 2,
            "unrequested or second Outcome for point 0",
        ),
        (lambda points: [Outcome(20, 1.0)], "unrequested or second Outcome for point 20"),
        (lambda points: [1.0 for _ in points], r"evaluate returned 1\.0, not an Outcome"),
        (lambda points: [Outcome(p, math.nan) for p in points], "is not a positive"),
    ],
)
def test_a_search_refuses_missing_or_unrelated_answers(
    evaluate: Callable[[Sequence[int]], list[Outcome]], message: str
) -> None:
    made = make_strategy("exhaustive", LARGE, seed=1)
    with pytest.raises(TuningError, match=message):
        search(made, evaluate, Budget(evaluations=10))
