"""Measured steps within a budget, by a clock that the test controls."""

from __future__ import annotations

import pytest

from dl_optools.budget import Budget


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def run(
    budget: Budget,
    clock: Clock,
    steps: int,
    plain: float,
    added: float,
    charged: float,
    cold: float,
) -> list[int]:
    """Return the numbers of the steps that were measured."""
    measured = []
    for index in range(steps):
        clock.now += plain + (cold if index == 0 else 0.0)
        if budget.measuring:
            measured.append(index)
            clock.now += added
            budget.charge(charged)
        budget.end_step()
        budget.begin_step()
    return measured


def test_the_tool_stays_within_its_share() -> None:
    clock = Clock()
    budget = Budget(percent=2.0, clock=clock)
    measured = run(budget, clock, 1000, plain=1.0, added=0.5, charged=0.1, cold=20.0)
    spending = budget.spending()
    assert spending.overhead <= 2.0
    # Each costs half of a step: 2 % of 500 steps pays for 20, and the cold one is charged as 0.1.
    assert 38 <= len(measured) <= 41
    assert spending.steps == 1000 and spending.measured == len(measured)


def test_time_outside_of_the_tools_code_counts() -> None:
    clock = Clock()
    budget = Budget(percent=2.0, clock=clock)
    run(budget, clock, 1000, plain=1.0, added=0.5, charged=0.0, cold=0.0)
    # The overhead of the first two steps is unknown: the steps themselves may have been slow.
    known = 0.5 * (budget.spending().measured - 2)
    assert budget.spending().tool_seconds == pytest.approx(known)


def test_the_tools_charge_counts_even_if_steps_get_shorter() -> None:
    clock = Clock()
    budget = Budget(percent=10.0, clock=clock)
    run(budget, clock, 400, plain=1.0, added=-0.2, charged=1.0, cold=0.0)
    assert budget.spending().tool_seconds == pytest.approx(budget.spending().measured * 1.0)
    assert budget.spending().overhead <= 10.5


def test_a_short_program_sees_one_warm_step() -> None:
    clock = Clock()
    budget = Budget(percent=2.0, clock=clock)
    assert run(budget, clock, 8, plain=1.0, added=1.0, charged=1.0, cold=9.0) == [0, 1]


def test_from_the_third_step_on_the_tool_stays_within_its_share() -> None:
    clock = Clock()
    budget = Budget(percent=2.0, clock=clock)
    measured = run(budget, clock, 120, plain=1.0, added=2.6, charged=1.3, cold=9.0)
    # The first two cost 1.3 and 2.6, which 2 % of 120 steps do not pay back.
    assert measured == [0, 1]
    longer = run(budget, clock, 880, plain=1.0, added=2.6, charged=1.3, cold=0.0)
    assert 2.6 * len(longer) <= 0.02 * 1000
    assert len(longer) >= 4


def test_every_step_without_a_limit() -> None:
    clock = Clock()
    assert run(Budget(clock=clock), clock, 5, 1.0, 9.0, 9.0, 0.0) == [0, 1, 2, 3, 4]


def test_every_nth_step() -> None:
    clock = Clock()
    assert run(Budget(every=3, clock=clock), clock, 9, 1.0, 9.0, 9.0, 0.0) == [0, 3, 6]
    budget = Budget(every=3, percent=2.0, clock=clock)
    assert run(budget, clock, 9, 1.0, 9.0, 9.0, 0.0) == [0, 3]


def test_work_between_steps_is_the_tools() -> None:
    clock = Clock()
    budget = Budget(clock=clock)
    clock.now += 1.0
    budget.end_step()
    clock.now += 0.25
    budget.begin_step()
    clock.now += 1.0
    assert budget.spending().tool_seconds == pytest.approx(0.25)
    assert budget.spending().program_seconds == pytest.approx(2.0)


def test_a_program_without_steps_is_one() -> None:
    spending = Budget(clock=Clock()).spending()
    assert (spending.steps, spending.measured) == (1, 1)


@pytest.mark.parametrize("wrong", [{"every": 0}, {"percent": 0.0}, {"percent": -1.0}])
def test_wrong_values_are_named(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Budget(**wrong)  # type: ignore[arg-type]


def test_a_slow_start_lends_the_tool_no_time() -> None:
    clock = Clock()
    budget = Budget(percent=2.0, clock=clock)
    measured = 0
    for index in range(500):
        # The second step is slow, too: caches are filled, memory is allocated.
        clock.now += 50.0 if index < 2 else 1.0
        if budget.measuring:
            measured += 1
            clock.now += 0.5
        budget.end_step()
        budget.begin_step()
    # 2 % of some 600 seconds, at half a second each, and three whose overhead is unknown: the
    # cold one, and two before the median of other steps is that of warm ones.
    assert measured <= 24 + 3
