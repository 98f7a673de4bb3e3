"""Tests of the profiler, on a fake ROCTracer with synthetic records."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from extension_tests import profiler
from extension_tests.profiler import *  # noqa: F403 - pytest collects them here
from extension_tests.simulated_vendor import SimulatedVendor

from conftest import long

test_torchs_profiler_shows_it = long(profiler.test_torchs_profiler_shows_it)


@pytest.fixture
def tracing(
    simulated_vendor: SimulatedVendor, fake_library: Callable[[str], str]
) -> SimulatedVendor:
    return simulated_vendor.with_variables(DL_ROCM_ROCTRACER=fake_library("roctracer"))


def test_records_of_roctracer_become_activities(tracing: SimulatedVendor) -> None:
    code = """
    profiler = vendor.profiler
    before = profiler.clock()
    assert profiler.clock().device > before.device and before.uncertainty >= 0
    profiler.correlate(4)  # while nothing is recorded
    assert profiler.collect() == ([], 0)
    profiler.start()
    assert profiler.correlate(41) == 4 and profiler.correlate(0) == 41
    profiler.stop()
    activities, dropped = profiler.collect()
    assert dropped == 0
    shown = [(a.name, a.kind, a.correlation, a.bytes, a.end - a.start) for a in activities]
    assert shown == [
        ("work(float*)", "kernel", 41, 0, 5),
        ("CopyHostToDevice", "copy", 41, 4096, 5),
        ("FillBuffer", "set", 0, 16, 5),
    ], shown
    # Hardware queues are not streams.
    assert {(a.device, a.stream) for a in activities} == {(0, 0)}
    assert profiler.collect() == ([], 0)
    profiler.start()
    profiler.stop()
    """
    tracing.run_on_vendor(code)


def test_failures_are_reported(tracing: SimulatedVendor) -> None:
    code = """
    import os
    profiler = vendor.profiler
    for function in ("roctracer_open_pool_expl", "roctracer_enable_domain_activity_expl"):
        os.environ["FAKE_ROCTRACER_FAIL"] = function + ":-2"
        expect_error(profiler.start, "injected failure (-2) from ROCTracer")
    os.environ["FAKE_ROCTRACER_FAIL"] = ""
    profiler.start()
    os.environ["FAKE_ROCTRACER_FAIL"] = "roctracer_flush_activity_expl:-1"
    expect_error(profiler.stop, "injected failure (-1) from ROCTracer")
    os.environ["FAKE_ROCTRACER_FAIL"] = ""
    expect_error(profiler.stop, "is not being recorded")
    """
    tracing.run_on_vendor(code)
