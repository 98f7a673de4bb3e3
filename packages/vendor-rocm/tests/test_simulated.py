"""Tests of g++'s kernels on the fake driver, whose devices work asynchronously.

They cover the path from a call to a kernel and back, devices with either wave size, and a sample of
the conformance suite. tools/simulated.py runs more of it, on all families.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from driver_tests import models
from driver_tests.models import *  # noqa: F403 - pytest collects them here
from driver_tests.models import run_conformance_sample
from extension_tests.simulated_vendor import SimulatedVendor

from conftest import all_families
from processes import run, run_on_vendor

test_an_invalid_index_is_raised_when_the_host_waits = all_families(
    models.test_an_invalid_index_is_raised_when_the_host_waits
)
test_a_model_learns_as_on_the_cpu = all_families(models.test_a_model_learns_as_on_the_cpu)


def test_devices_with_different_waves_work_side_by_side(simulated: dict[str, str]) -> None:
    code = """
    x = np.random.default_rng(0).standard_normal((7, 500)).astype("float32")
    totals = []
    for _ in range(3):
        for device in (0, 1):
            total = vendor.empty((7,), device=device)
            vendor.op.Sum(total, vendor.tensor(x, device=device), (1,))
            totals.append(total)
    for total in totals:
        np.testing.assert_allclose(total.numpy(), x.sum(1), rtol=1e-4, atol=1e-4)
    print(vendor.properties(0).warp_size, vendor.properties(1).warp_size)
    """
    assert run_on_vendor(code, FAKE_HIP_DEVICES="gfx90a,gfx1100", **simulated) == "64 32\n"


def test_launches_return_before_the_device_has_finished(simulated: dict[str, str]) -> None:
    """The host waits only when it reads a result."""
    code = f"""
    import cffi, torch
    ffi = cffi.FFI()
    ffi.cdef("unsigned long long fake_hip_waits();")
    fake = ffi.dlopen({simulated["DL_ROCM_DRIVER"]!r})
    x = torch.linspace(-1, 1, 3000).to("dl")
    torch.relu(x)
    before = fake.fake_hip_waits()
    for _ in range(5):
        y = torch.relu(x) + x
    between = fake.fake_hip_waits()
    torch.dl.synchronize()
    print(between - before, fake.fake_hip_waits() - between, y.max().item())
    """
    assert run(code, DL_VENDORS="rocm", **simulated) == "0 1 2.0\n"


def test_the_host_cannot_read_device_memory(simulated: dict[str, str]) -> None:
    code = """
    import cffi, os, subprocess, sys
    tensor = vendor.tensor(np.ones(3, np.float32))
    vendor.synchronize(0)
    if os.fork() == 0:
        cffi.FFI().cast("float *", tensor.storage.address)[0]
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.wait()[1]))
    """
    assert int(run_on_vendor(code, **simulated)) < 0


def test_an_emulated_library_takes_no_other_driver() -> None:
    from dl_vendor_rocm.presence import SIMULATOR

    if not SIMULATOR.is_file():
        pytest.skip("this build is for GPUs")
    assert run_on_vendor("print(vendor.device_count)") == "0\n"


def test_results_are_right_on_devices_with_the_other_waves(
    simulated_vendor: SimulatedVendor,
) -> None:
    models.test_results_are_right(simulated_vendor.with_variables(FAKE_HIP_DEVICES="gfx1030"))


@all_families
def test_a_model_learns_on_devices_with_the_other_waves(
    simulated_vendor: SimulatedVendor,
) -> None:
    other = simulated_vendor.with_variables(FAKE_HIP_DEVICES="gfx1030")
    models.test_a_model_learns_as_on_the_cpu(other)


@all_families
def test_two_vendors_compute_in_one_process(simulated: dict[str, str]) -> None:
    code = """
    import torch
    x = torch.randn(4, 5)
    there = x.to("dl:0").softmax(1).to("dl:1").log().to("dl:0")
    torch.testing.assert_close(there.cpu(), x.log_softmax(1))
    print(torch.dl.get_device_name(0), torch.dl.device_count())
    """
    assert run(code, DL_VENDORS="rocm,cpu", **simulated) == "Fake 0 2\n"


def test_a_sample_of_the_conformance_cases_passes(
    simulated_vendor: SimulatedVendor, tmp_path: Path
) -> None:
    report = run_conformance_sample(simulated_vendor, 100, tmp_path)
    assert report["counts"]["passed"] > 10
