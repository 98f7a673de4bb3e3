"""Tests of the profiler, on a fake MSPTI with synthetic records."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from extension_tests import profiler
from extension_tests.profiler import *  # noqa: F403 - pytest collects them here
from extension_tests.simulated_vendor import SimulatedVendor

from conftest import with_fakes


@pytest.fixture
def tracing(fake_vendor: SimulatedVendor, fake_library: Callable[[str], str]) -> SimulatedVendor:
    return fake_vendor.with_variables(DL_ASCEND_MSPTI=fake_library("mspti"))


@with_fakes
def test_torchs_profiler_shows_it(
    simulated_vendor: SimulatedVendor, fake_library: Callable[[str], str]
) -> None:
    library = fake_library("mspti")
    profiler.test_torchs_profiler_shows_it(simulated_vendor.with_variables(DL_ASCEND_MSPTI=library))


def test_records_of_mspti_become_activities(tracing: SimulatedVendor) -> None:
    code = """
    profiler = vendor.profiler
    before = profiler.clock()
    assert profiler.clock().device > before.device and before.uncertainty >= 0
    profiler.correlate(4)  # while nothing is recorded
    profiler.start()
    assert profiler.correlate(41) == 4 and profiler.correlate(0) == 41
    profiler.stop()
    activities, dropped = profiler.collect()
    assert dropped == 0
    shown = [(a.name, a.kind, a.stream, a.correlation, a.bytes, a.end - a.start)
             for a in activities]
    assert shown == [
        ("work(float*)", "kernel", 0, 41, 0, 5),
        ("Memcpy HtoD", "copy", 0, 41, 4096, 5),
        ("Memset", "set", 0, 0, 16, 5),
    ], shown
    assert {a.device for a in activities} == {0}
    assert profiler.collect() == ([], 0)
    """
    tracing.run_on_vendor(code)


def test_a_failure_names_its_cause(tracing: SimulatedVendor) -> None:
    words = "error 4 of MSPTI; another profiler in this process uses MSPTI"
    code = f"expect_error(vendor.profiler.start, {words!r})"
    tracing.with_variables(FAKE_MSPTI_FAIL="msptiSubscribe:4").run_on_vendor(code)
