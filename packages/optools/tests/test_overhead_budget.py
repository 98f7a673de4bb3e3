"""Optional comparisons within the token bucket, and calls with values of a new kind."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import _get_current_dispatch_mode_stack

import dl_optools
from autocompare_faults import FaultyDevice
from dl_optools import OpAutoCompare
from dl_optools.compare.overhead_budget import MOST, OverheadBudget
from dl_optools.compare.signature_sampling import Pick, SignatureSampler
from dl_optools.compare.value_classes import value_class

aten = torch.ops.aten


class Clock:
    """A clock that advances only when a test says so."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Call:
    """The attributes of a call that the sampler reads."""

    def __init__(self, *args: Any) -> None:
        self.function, self.args, self.kwargs = aten.exp.default, args, {}


def sampler(clock: Clock, idle: bool = True, every: int = 1000) -> SignatureSampler:
    return SignatureSampler(every, OverheadBudget(0.1, lambda: idle, clock))


def picks(found: SignatureSampler, clock: Clock, x: torch.Tensor, count: int) -> list[Pick]:
    """Return the decisions about several calls, one in each second."""
    picked = []
    for _ in range(count):
        clock.now += 1.0
        call: Any = Call(x)
        picked.append(found.pick(call))
    return picked


def test_kinds_of_values() -> None:
    x = torch.tensor([-1.0, 0.5, 2.0])
    assert value_class([x]) == value_class([x * 1.001])
    others = [x * 100, x.abs(), x * 0, torch.tensor([-1.0, math.nan, 2.0]), x / 0, -x]
    kinds = [value_class([each]) for each in (x, *others)]
    assert len({*kinds}) == len(kinds)
    assert value_class([torch.tensor([math.nan])]) == value_class([torch.tensor([math.nan])])
    without = [torch.ones(2, dtype=torch.bool), torch.ones(0), torch.ones(2).cfloat()]
    assert value_class([*without, torch.eye(2).to_sparse()]) == (None,) * 4


def test_values_of_a_new_kind_are_compared() -> None:
    clock = Clock()
    found = sampler(clock)
    seen = picks(found, clock, torch.ones(3), 40)
    assert seen[0] is Pick.NEW and Pick.VALUES not in seen
    # Further calls become rare, and one in four is compared.
    assert 1 <= seen.count(Pick.TIME) <= 3
    assert picks(found, clock, torch.full((3,), math.nan), 200).count(Pick.VALUES) == 1
    assert picks(found, clock, torch.full((3,), 1e6), 800).count(Pick.VALUES) == 1
    assert found.picks[Pick.VALUES] == 2 and found.picks[Pick.AGAIN] == 1


def test_without_time_or_idle_threads_nothing_more_is_looked_at() -> None:
    clock = Clock()
    for found in (sampler(clock, idle=False), SignatureSampler(1000)):
        assert picks(found, clock, torch.ones(3), 5)[1:] == [Pick.SKIP] * 4
        assert Pick.VALUES not in picks(found, clock, torch.ones(3) * 1e6, 50)


def test_an_account_of_seconds() -> None:
    clock = Clock()
    account = OverheadBudget(0.1, lambda: True, clock)
    assert not account.has_time()
    clock.now = 1.0
    assert account.has_time()
    account.spend(0.3)
    assert not account.has_time()
    clock.now = 2.5
    assert not account.has_time()
    clock.now = 3.5
    assert account.has_time()
    # The capacity of the bucket limits what a long wait earns.
    clock.now = 1e6
    assert account.has_time()
    account.spend(MOST)
    assert not account.has_time()


@pytest.mark.parametrize("large", [1e4, math.nan])
def test_a_fault_that_depends_on_values_is_found_by_default(large: float) -> None:
    seconds = itertools.count()

    def wrong(function: Any, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = function(x)
        return torch.where((x > 1e3) | x.isnan(), torch.zeros_like(x), result)

    with (
        FaultyDevice("aten.sqrt.default", wrong),
        OpAutoCompare(
            device="cpu",
            stream=None,
            csv=False,
            bundles=0,
            clock=lambda: float(next(seconds)),
        ) as tool,
    ):
        for at in range(60):
            torch.full((3,), 2.0 if at < 10 else large).sqrt()
            tool._background.drain()
    assert tool.results.guilty == ["aten.sqrt.default"]
    assert "again" not in tool.results.picks
    assert "for values of a new kind" in tool.results.coverage()


def test_it_is_absent_from_most_steps() -> None:
    clock = Clock()
    depths = []
    with OpAutoCompare(device="cpu", stream=None, csv=False, clock=clock) as tool:
        for _ in range(60):
            depths.append(len(_get_current_dispatch_mode_stack()))
            torch.ones(4).exp()
            # As long again as without it.
            clock.now += 2.0 if depths[-1] else 1.0
            dl_optools.step()
    assert depths[:3] == [1, 1, 0]
    spending = tool.results.spending
    assert spending is not None and spending.measured == sum(depths) and spending.steps == 60
    assert 5 <= sum(depths) <= 11 and spending.overhead <= 15
    assert f"{sum(depths)} of 60 steps measured" in tool.results.text()
    with OpAutoCompare(device="cpu", stream=None, csv=False, every=1, clock=clock) as tool:
        for _ in range(6):
            torch.ones(4).exp()
            dl_optools.step()
    assert tool.results.operators["aten.exp.default"].checked == 6
