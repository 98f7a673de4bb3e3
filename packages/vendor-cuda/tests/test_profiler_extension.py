"""Tests of the profiler, on a fake CUPTI with synthetic records."""

from __future__ import annotations

import pytest

from processes import compile_library, doctor, run, run_on_vendor


@pytest.fixture(scope="module")
def fake_cupti(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(compile_library("cupti", tmp_path_factory.mktemp("cupti")))


def test_records_of_cupti_become_activities(fake: str, fake_cupti: str) -> None:
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
    run_on_vendor(code, DL_CUDA_DRIVER=fake, DL_CUDA_CUPTI=fake_cupti)


def test_streams_are_identified(fake: str, fake_cupti: str) -> None:
    code = """
    profiler, stream = vendor.profiler, vendor.stream()
    number = int(__import__("cffi").FFI().cast("intptr_t", stream.pointer_for(vendor._instance, 0)))
    profiler.start()
    profiler.collect()  # numbers the stream
    profiler.correlate(1)
    del stream  # it has records that are not collected yet
    profiler.stop()
    found = {a.name: a.stream for a in profiler.collect()[0]}
    assert found == {"work(float*)": 0, "Memcpy HtoD": number, "Memset": 0}, found
    """
    run_on_vendor(code, DL_CUDA_DRIVER=fake, DL_CUDA_CUPTI=fake_cupti)


def test_invalid_calls_are_reported(fake: str, fake_cupti: str) -> None:
    code = """
    def refused(call, words):
        try:
            call()
        except VendorError as error:
            assert words in str(error), str(error)
        else:
            raise AssertionError(words)
    profiler = vendor.profiler
    refused(profiler.stop, "is not being recorded; start that first")
    refused(lambda: profiler._slots.call("start", 0, 3), "the flags of a profiler must be 0, not 3")
    import os
    os.environ["FAKE_CUPTI_FAIL"] = "cuptiActivityEnable:35"
    refused(profiler.start, "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES (35) from CUPTI; an administrator")
    os.environ["FAKE_CUPTI_FAIL"] = ""
    profiler.start()
    refused(profiler.start, "is already being recorded; stop that first")
    profiler.stop()
    """
    run_on_vendor(code, DL_CUDA_DRIVER=fake, DL_CUDA_CUPTI=fake_cupti)


def test_torchs_profiler_shows_it(simulator: str, fake_cupti: str) -> None:
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
    output = run(code, DL_CUDA_DRIVER=simulator, DL_CUDA_CUPTI=fake_cupti, DL_VENDORS="cuda")
    assert "work(float*)" in output and "Memcpy HtoD" in output


def test_without_cupti_hosts_measure_by_themselves(fake: str) -> None:
    """CUPTI is not used with a driver that the user named."""
    assert "profiler" not in doctor(DL_CUDA_DRIVER=fake)["extensions"]
