"""Tests of g++'s kernels on the fake driver, whose devices work asynchronously.

They cover the path from a call to a kernel and back, devices with either wave size, and a sample of
the conformance suite. tools/simulated.py runs more of it, on all families.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import all_families
from dl_conformance.commit_seed import commit_seed
from processes import run, run_on_vendor

SEED = commit_seed(Path(__file__).parent)
both_waves = pytest.mark.parametrize(("processor", "wave"), [("gfx1030", 32), ("gfx90a", 64)])


@both_waves
def test_results_are_right(simulated: dict[str, str], processor: str, wave: int) -> None:
    code = """
    x = np.random.default_rng(0).standard_normal((5, 333)).astype("float32")
    given, out, total = vendor.tensor(x), vendor.empty((5, 333)), vendor.empty((5,))
    vendor.op.Softmax(out, given, 1)
    wanted = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(out.numpy(), wanted / wanted.sum(1, keepdims=True), rtol=1e-5)
    vendor.op.Sum(total, out, (1,))
    np.testing.assert_allclose(total.numpy(), np.ones(5), rtol=1e-6)
    vendor.op.Add(out, given, vendor.tensor(np.ascontiguousarray(x.T).T), 2.0)
    np.testing.assert_allclose(out.numpy(), 3 * x, rtol=1e-6)
    print(vendor.properties(0).warp_size)
    """
    output = run_on_vendor(code, FAKE_HIP_DEVICES=processor, **simulated)
    assert output == f"{wave}\n"


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


@all_families
def test_an_invalid_index_is_raised_when_the_host_waits(simulated: dict[str, str]) -> None:
    code = """
    import torch
    numbers = torch.arange(3.0, device="dl")
    taken = numbers[torch.tensor([0, 7], device="dl")]
    try:
        torch.dl.synchronize()
    except IndexError as error:
        print(error)
    print(numbers.sum().item())
    """
    output = run(code, DL_VENDORS="rocm", **simulated)
    assert "index 7 is out of bounds for dimension 0 with size 3" in output
    assert output.endswith("3.0\n")


@all_families
@pytest.mark.parametrize("processor", ["gfx1030", "gfx90a"])
def test_a_model_learns_as_on_the_cpu(simulated: dict[str, str], processor: str) -> None:
    code = """
    import torch
    def trained(device):
        torch.manual_seed(0)
        layers = torch.nn.Linear(4, 8), torch.nn.GELU(), torch.nn.Linear(8, 2)
        model = torch.nn.Sequential(*layers)
        x, classes = torch.randn(5, 4), torch.tensor([0, 1, 1, 0, 1])
        model.to(device)
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
        for _ in range(2):
            logits = model(x.to(device))
            loss = torch.nn.functional.cross_entropy(logits, classes.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        return [parameter.detach().cpu() for parameter in model.parameters()]
    for here, there in zip(trained("cpu"), trained("dl")):
        torch.testing.assert_close(there, here)
    print(torch.dl.fallback_stats().totals["fallback"], flush=True)
    # torch's autograd threads hold Python objects when the interpreter exits.
    import os
    os._exit(0)
    """
    assert run(code, DL_VENDORS="rocm", FAKE_HIP_DEVICES=processor, **simulated) == "0\n"


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
    simulated: dict[str, str], tmp_path: Path
) -> None:
    report = tmp_path / "report.json"
    chosen = (
        "--sample",
        f"100/{SEED}",
        "-k",
        "not runtime",
        "--seconds",
        "300",
    )
    options = ("--vendor", "rocm", "--simulate", *chosen, "--json", str(report))
    command = [sys.executable, "-m", "dl_conformance", *options]
    env = {name: value for name, value in os.environ.items() if name != "DL_ROCM_DRIVER"}
    env["PYTHONPATH"] = simulated["PYTHONPATH"]
    done = subprocess.run(
        command, env=env, capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 0, " ".join(command) + done.stdout + done.stderr
    found = json.loads(report.read_text())
    assert found["vendor"]["simulated"]["DL_ROCM_DRIVER"] == simulated["DL_ROCM_DRIVER"]
    assert found["counts"]["passed"] > 10
