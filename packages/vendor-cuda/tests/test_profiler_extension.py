"""Tests of the profiler, on a fake CUPTI with synthetic records."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from extension_tests.profiler import *  # noqa: F403 - pytest collects them here
from extension_tests.simulated_vendor import SimulatedVendor


@pytest.fixture
def tracing(
    simulated_vendor: SimulatedVendor, fake_library: Callable[[str], str]
) -> SimulatedVendor:
    return simulated_vendor.with_variables(DL_CUDA_CUPTI=fake_library("cupti"))


def test_records_of_cupti_become_activities(tracing: SimulatedVendor) -> None:
    code = """
    profiler = vendor.profiler
    stream = vendor.stream()
    queue = int(__import__("cffi").FFI().cast("intptr_t", stream.pointer_for(vendor._instance, 0)))
    before = profiler.clock()
    assert profiler.clock().device > before.device and before.uncertainty >= 0
    profiler.correlate(4)  # while nothing is recorded
    profiler.start()
    assert profiler.correlate(41) == 4 and profiler.correlate(0) == 41
    profiler.stop()
    activities, dropped = profiler.collect()
    assert dropped == 2
    shown = [(a.name, a.kind, a.stream in (0, queue), a.correlation, a.bytes, a.end - a.start)
             for a in activities]
    assert shown == [
        ("work(float*)", "kernel", True, 41, 0, 5),
        ("Memcpy HtoD", "copy", True, 41, 4096, 5),
        ("Memset", "set", True, 0, 16, 5),
    ], shown
    assert {a.device for a in activities} == {0}
    assert profiler.collect() == ([], 0)
    """
    tracing.run_on_vendor(code)


def test_streams_are_identified(tracing: SimulatedVendor) -> None:
    code = """
    profiler, stream = vendor.profiler, vendor.stream()
    number = int(__import__("cffi").FFI().cast("intptr_t", stream.pointer_for(vendor._instance, 0)))
    profiler.start()
    profiler.collect()  # assigns a number to the stream
    profiler.correlate(1)
    del stream  # its records are not collected yet
    profiler.stop()
    found = {a.name: a.stream for a in profiler.collect()[0]}
    assert found == {"work(float*)": 0, "Memcpy HtoD": number, "Memset": 0}, found
    """
    tracing.run_on_vendor(code)


def test_a_failure_names_its_remedy(tracing: SimulatedVendor) -> None:
    code = """
    words = "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES (35) from CUPTI; an administrator"
    expect_error(vendor.profiler.start, words)
    """
    tracing.with_variables(FAKE_CUPTI_FAIL="cuptiActivityEnable:35").run_on_vendor(code)
