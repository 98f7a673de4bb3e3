"""The table of faults that tools/async_faults seeds into an asynchronous vendor, and a few of them.

``tools/nox -s async-faults`` tries the whole table.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dl_conformance.checks.check import asynchronous_checks
from dl_conformance.outcome import Outcome
from dl_conformance.target import TargetError, of_vendor
from tools.async_faults.trials import Fault, Trial, build, read_faults, try_fault, try_target

FAULTS = {each.fault: each for each in read_faults()}


@pytest.fixture(scope="module")
def base() -> Path:
    """Return the asynchronous library into which faults are seeded."""
    try:
        return Path(of_vendor("async")[0].library)
    except TargetError:
        pytest.skip("the asynchronous test vendor is not installed")


@pytest.fixture(scope="module")
def library(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("faulty"))


def test_the_table_is_wide_enough() -> None:
    slots = {re.split(r"\W", each.slot)[0] for each in FAULTS.values()}
    assert len(FAULTS) >= 50 and len(slots) >= 13
    assert len(asynchronous_checks()) >= 35


def failure(detail: str) -> Outcome:
    return Outcome("runtime[x]", "runtime", "", "failed", "wrong behaviour", detail)


def test_verdicts() -> None:
    fault = Fault("event-query-always-finished", "event_query")
    right = failure("event_query: it reports that an event is finished; report it later")
    other = failure("stream_wait_event: later work did not wait; let it wait")
    crash = Outcome("runtime[y]", "runtime", "", "failed", "crash: SIGSEGV")
    assert Trial(fault, [right], 0).verdict == "named"
    assert Trial(fault, [right, crash], 0).verdict == "named"
    assert Trial(fault, [right, other], 0).verdict == "misled"
    assert Trial(fault, [crash], 0).verdict == "unnamed"
    assert Trial(fault, [], 0).verdict == "missed"
    assert Trial(None, [], 0).verdict == "right"
    assert Trial(None, [crash], 0).verdict == "false alarm"


STEADY = ("event-elapsed-backwards", "event-elapsed-constant")
"""Faults that show whatever else runs on the machine."""


# Most faults are races, which a busy machine hides from one check and shows to a later one.
@pytest.mark.parametrize(
    "name", [x if x in STEADY else pytest.param(x, marks=pytest.mark.full) for x in FAULTS]
)
def test_a_fault_is_named(library: Path, base: Path, name: str) -> None:
    """A race may have the right result on a busy machine: a fault may be missed twice, but it
    must never be reported as another fault."""
    trials = (try_fault(library, base, FAULTS[name]) for _ in range(3))
    trial = next((each for each in trials if each.verdict != "missed"), None)
    assert trial is not None, "missed three times"
    assert trial.verdict == "named", [f"{x.name}: {x.cause}: {x.detail}" for x in trial.failed]


@pytest.mark.parametrize("vendor", ["cpu", "async", "none"])
def test_a_vendor_without_a_fault_passes(library: Path, base: Path, vendor: str) -> None:
    seeds = vendor == "none"
    trial = try_fault(library, base, None) if seeds else try_target(of_vendor(vendor)[0])
    assert trial.verdict == "right", [f"{x.name}: {x.cause}: {x.detail}" for x in trial.failed]
    passed = {x.name for x in trial.outcomes if x.status == "passed"}
    assert len(passed) >= len(trial.outcomes) - 2
