"""Every overload that ``dl coverage`` counts is right on dl with the fallback forbidden."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache

import pytest
import torch

from dl_core.coverage import Coverage, measure
from dl_torch_tests.opinfo.operators import ANY_STRIDES, WITHOUT_VALUES
from dl_torch_tests.opinfo.relocate import Relocation
from dl_torch_tests.opinfo.sweep import compare_outcomes, describe, run

from .derived_calls import CallOf, caller, calls_of, packet_of, stem_of
from .native import REFUSED

# Many operators of torch emit deprecation warnings.
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.vendor("cpu")]

COUNTED = ("native", "composed")
WANTED_SHARE = 0.90

SERVED_BY = {"_unique": "_unique2", "unique_dim": "_unique2"}
"""Overloads that the vendor's operator for another overload computes."""

SHARING = frozenset({"_unique2"})
"""Overloads whose unrequested results may be the same empty tensor."""


@cache
def coverage() -> Coverage:
    return measure()[0]


def counted() -> list[str]:
    """Return the overloads. Needs the device while tests are collected; without one, a separate
    test fails."""
    if not hasattr(torch, "dl") or not torch.dl.is_available():
        return []
    return sorted(name for kind in COUNTED for name in coverage().overloads["A"][kind])


@dataclass
class Proof:
    """Findings about the calls of one overload."""

    right: int = 0
    native: int = 0
    """Number of calls in which the vendor's own operator took part."""
    problems: list[str] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)

    def add(self, call: CallOf) -> None:
        """Call it on the CPU and on dl."""
        packet = packet_of(call.overload)
        judgement = replace(
            call.judgement,
            uninitialised=packet in WITHOUT_VALUES,
            any_strides=packet in ANY_STRIDES | SHARING or packet.startswith("_scaled_dot_product"),
        )
        original, function = call.arguments("cpu"), caller(call.overload)
        told = describe(original)
        cpu = run(function, Relocation()(original))
        if cpu.error is not None:
            self.refusals.append(f"{told}: the CPU refuses: {cpu.error}")
            return
        arguments = call.arguments("dl")
        torch.dl.reset_native_stats()
        with torch.dl.fallback("error"), torch.dl.profile_operators():
            got = run(function, arguments)
        ran = {stem_of(packet_of(name)) for name in torch.dl.native_stats()}
        refused = REFUSED.match(str(got.error)) if got.error is not None else None
        if refused is not None:
            self.refusals.append(f"{told}: dl has to leave {refused[1]} to the CPU")
            return
        with torch.dl.fallback("error"):
            problem, _ = compare_outcomes(function, original, cpu, got, judgement, "dl")
        if problem is not None:
            self.problems.append(f"{told}: {problem}")
            return
        self.right += 1
        self.native += SERVED_BY.get(packet, stem_of(packet)) in ran


@pytest.mark.parametrize("overload", counted())
def test_counted_overload_runs_without_fallback(overload: str, vendor: str) -> None:
    calls = calls_of(overload)
    assert calls, f"no call of {overload} is known: write one in written_calls.py"
    proof = Proof()
    for call in calls:
        proof.add(call)
    assert not proof.problems, "\n".join(proof.problems)
    assert proof.right, f"no call of {overload} ran\n" + "\n".join(proof.refusals)
    if overload in coverage().overloads["A"]["native"]:
        assert proof.native, f"{overload} is counted as native, and the vendor's code did not run"


def test_most_of_the_tier_is_counted(vendor: str) -> None:
    total = sum(coverage().count("A", kind) for kind in coverage().overloads["A"])
    assert len(counted()) >= WANTED_SHARE * total
