"""Counts of calls by where they ran: totals, and the operators that fell back."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch

from .lacking import lacking


@pytest.fixture(autouse=True)
def counted_anew() -> Iterator[None]:
    torch.dl.reset_fallback_stats()
    torch.dl.reset_native_stats()
    yield
    torch.dl.set_force_fallback([])


def work() -> None:
    x = torch.ones(3, 3, device="dl")
    x.add(x).mul(x)


def test_before_any_call_there_is_no_share() -> None:
    stats = torch.dl.fallback_stats()
    assert stats == {} and stats.totals == {"native": 0, "fallback": 0, "composed": 0}
    assert stats.share == {"calls": None, "time": None}


def test_calls_are_counted_where_they_ran() -> None:
    x = torch.ones(3, 3, device="dl")
    torch.dl.reset_fallback_stats()
    x.add(x).mul(x)
    stats = torch.dl.fallback_stats()
    assert stats.totals == {"native": 2, "fallback": 0, "composed": 0}
    assert stats.share["calls"] == 0
    torch.dl.set_force_fallback(["mul.Tensor"])
    x.add(x).mul(x)
    stats = torch.dl.fallback_stats()
    assert stats.totals == {"native": 3, "fallback": 1, "composed": 0}
    assert stats["mul.Tensor"]["count"] == 1
    assert stats.share["calls"] == 0.25


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.mm(torch.ones(2, 3, device="dl")),
        lambda x: x.bool().fmod(True),
        lambda x: lacking(x[:2]),
    ],
    ids=["shapes", "dtype", "what no vendor has"],
)
def test_a_call_that_is_refused_ran_nowhere(call: Callable[[torch.Tensor], object]) -> None:
    x = torch.ones(3, 3, device="dl")
    with pytest.raises(RuntimeError):
        call(x)
    stats = torch.dl.fallback_stats()
    assert stats == {} and stats.totals["fallback"] == 0


def test_what_is_composed_is_counted_beside_what_it_calls() -> None:
    x = torch.ones(3, 3, device="dl")
    torch.dl.reset_fallback_stats()
    torch.logaddexp(x, x)
    totals = torch.dl.fallback_stats().totals
    assert totals["composed"] == 1
    assert totals["native"] + totals["fallback"] > 1


def test_views_and_memory_are_no_calls() -> None:
    x = torch.empty(4, 4, device="dl")
    x.view(16).as_strided((2,), (1,)).t()
    assert set(torch.dl.fallback_stats().totals.values()) == {0}


def test_threads_are_counted_while_they_run_and_when_they_have_ended() -> None:
    torch.dl.reset_fallback_stats()
    work()
    alone = torch.dl.fallback_stats().totals["native"]
    for _ in range(3):
        # Later threads continue with what earlier ones left.
        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert torch.dl.fallback_stats().totals["native"] == 7 * alone
    torch.dl.reset_fallback_stats()
    work()
    assert torch.dl.fallback_stats().totals["native"] == alone


def test_the_share_of_time_is_known_where_operators_are_profiled() -> None:
    x = torch.ones(3, 3, device="dl")
    torch.dl.set_force_fallback(["mul.Tensor"])
    x.mul(x)
    assert torch.dl.fallback_stats().share["time"] is None
    with torch.dl.profile_operators():
        x.add(x).mul(x)
    stats = torch.dl.fallback_stats()
    fell, native = stats["mul.Tensor"]["nanoseconds"], torch.dl.native_stats()["add.Tensor"]
    assert stats.share["time"] == fell / (fell + native["nanoseconds"])
    assert 0 < stats.share["time"] < 1


@pytest.mark.parametrize("patterns", [5, None, [5], b"add.*"], ids=repr)
def test_patterns_that_are_not_strings_are_reported(patterns: Any) -> None:
    with pytest.raises(TypeError, match=r"set_force_fallback\] expected patterns .* got "):
        torch.dl.set_force_fallback(patterns)
