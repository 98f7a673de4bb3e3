"""A seeded share of a session, and a check that the fuzzer finds planted faults."""

from __future__ import annotations

import os
import random

import pytest

from .planted import PLANTS, PREFIX
from .runner import Runner
from .targets import targets

SEED = os.environ.get("DL_TEST_SEED") or "1"
OPERATORS = 100
CALLS = 12
PLANTED_CALLS = 60
CRASHING_CALLS = 8

# Each vendor has a list of causes of its own, or none; the reference vendor's is complete.
pytestmark = pytest.mark.vendor("cpu")


def test_a_share_of_the_operators_differs_from_the_cpu_for_listed_causes_only() -> None:
    names = random.Random(SEED).sample(sorted(targets()), OPERATORS)
    result = Runner(SEED).run(names, range(CALLS))
    said = "\n".join(
        f"{x.kind}: {x.call}\n  {x.text}\n  again: {x.repeat(SEED)}" for x in result.unexplained
    )
    assert not result.unexplained, said
    assert result.calls == OPERATORS * CALLS
    assert result.ends["equal"] > result.calls / 2, f"most calls compare nothing: {result.ends}"


def test_every_planted_fault_is_found_and_nothing_else() -> None:
    plants = {PREFIX + name: kind for name, (_, kind) in PLANTS.items() if kind != "crash"}
    result = Runner(SEED).run(plants, range(PLANTED_CALLS))
    found = {
        name: {finding.kind for finding in result.findings if finding.operator == name}
        for name in plants
    }
    wanted = {name: kind for name, kind in plants.items() if kind}
    assert {name: found[name] for name, kind in wanted.items() if kind not in found[name]} == {}
    assert not found[PREFIX + "right"]
    assert result.calls == PLANTED_CALLS * len(plants)


def test_a_crash_ends_one_call_and_is_attributed_to_it() -> None:
    result = Runner(SEED).run([PREFIX + "crash"], range(CRASHING_CALLS))
    crashes = [finding for finding in result.findings if finding.kind == "crash"]
    assert crashes
    assert "SIGSEGV" in crashes[0].text or "Segmentation" in crashes[0].text
    assert result.calls == CRASHING_CALLS
