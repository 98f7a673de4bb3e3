"""Tests of the profiler, on a fake CUPTI or ROCTracer with synthetic records.

The fixture ``tracing`` of a vendor's tests is the vendor with the fake.
"""

from __future__ import annotations

from .simulated_vendor import SimulatedVendor


def test_torchs_profiler_shows_it(tracing: SimulatedVendor) -> None:
    code = """
    import torch
    x = torch.ones(4, device="dl")
    x + x
    torch.dl.synchronize()
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.PrivateUse1]
    with torch.profiler.profile(activities=activities) as profile:
        x + x
        torch.dl.synchronize()
    print(*{event.name for event in profile.events()}, sep="|", flush=True)
    import os
    os._exit(0)
    """
    output = tracing.run(code)
    assert "work(float*)" in output
    assert "Memcpy HtoD" in output or "CopyHostToDevice" in output


def test_invalid_calls_are_reported(tracing: SimulatedVendor) -> None:
    code = """
    profiler = vendor.profiler
    expect_error(profiler.stop, "is not being recorded; start that first")
    flagged = lambda: profiler._slots.call("start", 0, 3)
    expect_error(flagged, "the flags of a profiler must be 0, not 3")
    profiler.start()
    expect_error(profiler.start, "is already being recorded; stop that first")
    profiler.stop()
    """
    tracing.run_on_vendor(code)


def test_without_a_tracer_hosts_measure_by_themselves(fake_vendor: SimulatedVendor) -> None:
    """The tracer is not used with a driver that the user named."""
    assert "profiler" not in fake_vendor.doctor()["extensions"]
