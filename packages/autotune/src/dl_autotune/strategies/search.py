"""Search loop between a strategy and an evaluator, within a budget."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass

from ..errors import ArgumentsError, TuningError
from .strategy import Outcome, Strategy

Evaluate = Callable[[Sequence[int]], Iterable[Outcome]]
"""Evaluator of points: it yields one answer for each point, in any order."""


@dataclass(frozen=True)
class Budget:
    """Budget of a search: it ends when the first limit is reached; None means no limit.

    :raises TuningError: a limit is not positive.
    """

    evaluations: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        for name in ("evaluations", "seconds"):
            limit = getattr(self, name)
            if limit is not None and not limit > 0:
                raise ArgumentsError(f"[search] {name}={limit!r} must be above 0")


def search(
    strategy: Strategy,
    evaluate: Evaluate,
    budget: Budget,
    *,
    batch: int = 4,
    clock: Callable[[], float] = time.monotonic,
) -> list[Outcome]:
    """Ask, evaluate and tell until the budget or the strategy is exhausted.

    :param batch: number of points to evaluate together, for example to compile them in parallel.
    :param clock: clock in seconds; tests replace it.
    :returns: the answers in the order of arrival.
    :raises TuningError: a point has no outcome or more than one, or an outcome is invalid.
    """
    start = clock()
    answers: list[Outcome] = []
    with closing(strategy):
        while budget.seconds is None or clock() - start < budget.seconds:
            count = batch
            if budget.evaluations is not None:
                count = min(batch, budget.evaluations - len(answers))
            points = strategy.ask(count) if count > 0 else []
            if not points:
                break
            for outcome in _answered(evaluate, points):
                strategy.tell([outcome])
                answers.append(outcome)
    return answers


def _answered(evaluate: Evaluate, points: Sequence[int]) -> Iterator[Outcome]:
    """Yield the answers for points, and check that each point has one answer."""
    open_ = list(points)
    given = evaluate(points)
    if not isinstance(given, Iterable):
        raise TuningError(f"[search] evaluate returned {given!r} instead of Outcomes")
    for outcome in given:
        if not isinstance(outcome, Outcome):
            raise TuningError(f"[search] evaluate returned {outcome!r}, not an Outcome")
        if outcome.point not in open_:
            raise TuningError(
                f"[search] evaluate returned an unrequested or second Outcome for point"
                f" {outcome.point!r}: return one Outcome for each of {_listed(points)}"
            )
        open_.remove(outcome.point)
        yield outcome
    if open_:
        raise TuningError(
            f"[search] evaluate returned no Outcome for points {_listed(sorted(open_))}: return an"
            " Outcome for each point, with the value None if its evaluation failed"
        )


def _listed(points: Iterable[int]) -> str:
    return ", ".join(map(str, points))
