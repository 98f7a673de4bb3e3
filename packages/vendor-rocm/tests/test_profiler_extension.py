"""What ran on a card, by a ROCTracer that makes it up."""

from __future__ import annotations

import pytest
from extension_tests.played import Played

from conftest import long
from processes import compile_library, doctor


@pytest.fixture(scope="module")
def fake_roctracer(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(compile_library("roctracer", tmp_path_factory.mktemp("roctracer")))


@pytest.fixture
def tracing(played: Played, fake_roctracer: str) -> Played:
    return played.having(DL_ROCM_ROCTRACER=fake_roctracer)


def test_records_of_roctracer_become_activities(tracing: Played) -> None:
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
    # The queues of the hardware are no streams.
    assert {(a.device, a.stream) for a in activities} == {(0, 0)}
    assert profiler.collect() == ([], 0)
    profiler.start()
    profiler.stop()
    """
    tracing.on_vendor(code)


def test_what_is_wrong_is_told(tracing: Played) -> None:
    code = """
    def refused(call, words):
        try:
            call()
        except VendorError as error:
            assert words in str(error), str(error)
        else:
            raise AssertionError(words)
    import os
    profiler = vendor.profiler
    refused(profiler.stop, "is not being recorded; start that first")
    refused(lambda: profiler._slots.call("start", 0, 3), "flags of a profiler are zero, not 3")
    for function in ("roctracer_open_pool_expl", "roctracer_enable_domain_activity_expl"):
        os.environ["FAKE_ROCTRACER_FAIL"] = function + ":-2"
        refused(profiler.start, "told to fail (-2) of ROCTracer")
    os.environ["FAKE_ROCTRACER_FAIL"] = ""
    profiler.start()
    refused(profiler.start, "is being recorded already; stop that first")
    os.environ["FAKE_ROCTRACER_FAIL"] = "roctracer_flush_activity_expl:-1"
    refused(profiler.stop, "told to fail (-1) of ROCTracer")
    os.environ["FAKE_ROCTRACER_FAIL"] = ""
    refused(profiler.stop, "is not being recorded")
    """
    tracing.on_vendor(code)


@long
def test_torchs_profiler_shows_it(tracing: Played) -> None:
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
    said = tracing.run(code)
    assert "work(float*)" in said and "CopyHostToDevice" in said


def test_without_roctracer_hosts_measure_by_themselves(fake: str) -> None:
    """A driver that is named is no place for the ROCTracer of another one."""
    assert "profiler" not in doctor(DL_ROCM_DRIVER=fake)["extensions"]
