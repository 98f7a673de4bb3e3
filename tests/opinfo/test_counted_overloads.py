"""Every overload that ``dl coverage`` counts runs on dl, right, with the fallback forbidden."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest
import torch

from dl_core.coverage import Coverage, measure

from .derived_calls import CallOf, caller, calls_of
from .native import REFUSED
from .operators import UNINITIALISED
from .relocate import Relocation
from .sweep import compare_outcomes, describe, run

# Many operators of torch warn of others that are to replace them.
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.vendor("cpu")]

COUNTED = ("native", "composed")
WANTED_SHARE = 0.90

UNPROVEN: dict[str, str] = {}
"""Counted overloads that no test calls, and why: they still have to be few."""


@cache
def coverage() -> Coverage:
    return measure()[0]


def counted() -> list[str]:
    """Needs the device while tests are collected; without one, a test of its own says so."""
    if not hasattr(torch, "dl") or not torch.dl.is_available():
        return []
    return sorted(name for kind in COUNTED for name in coverage().overloads["A"][kind])


def proof(call: CallOf) -> tuple[str | None, str | None]:
    """Call it on the CPU and on dl: (what is wrong or None, which overload dl refuses or None)."""
    judgement = replace(call.judgement, uninitialised=call.overload.split(".")[0] in UNINITIALISED)
    original = call.arguments("cpu")
    function = caller(call.overload)
    cpu = run(function, Relocation()(original))
    if cpu.error is not None:
        return None, f"the CPU: {cpu.error}"
    with torch.dl.fallback("error"):
        got = run(function, call.arguments("dl"))
        refused = REFUSED.match(str(got.error)) if got.error is not None else None
        if refused is not None:
            return None, refused[1]
        problem, _ = compare_outcomes(function, original, cpu, got, judgement, "dl")
    return problem, None


@pytest.mark.parametrize("overload", [name for name in counted() if name not in UNPROVEN])
def test_counted_overload_runs_without_fallback(overload: str, vendor: str) -> None:
    calls = calls_of(overload)
    assert calls, f"no call of {overload} is known: write one in written_calls.py"
    problems, refusals, right = [], [], 0
    for call in calls:
        problem, refused = proof(call)
        told = describe(call.arguments("cpu"))
        if problem is not None:
            problems.append(f"{told}: {problem}")
        elif refused is not None:
            refusals.append(f"{told}: refused by {refused}")
        else:
            right += 1
    assert not problems, "\n".join(problems)
    assert right, f"no call of {overload} ran\n" + "\n".join(refusals)


def test_most_of_the_tier_is_proven(vendor: str) -> None:
    known = set(counted())
    assert UNPROVEN.keys() <= known, "not counted, so nothing to excuse"
    total = sum(coverage().count("A", kind) for kind in coverage().overloads["A"])
    assert len(known - UNPROVEN.keys()) >= WANTED_SHARE * total
