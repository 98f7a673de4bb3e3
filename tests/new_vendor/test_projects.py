"""Every kind of project builds, passes its own tests and trains, without an edit."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from .projects import ALL, install, runs_here

# The projects use their own vendors, so that one run is enough.
pytestmark = pytest.mark.vendor("cpu")


COPIES = """
import torch
for dtype in (torch.int64, torch.bool, torch.float64, torch.bfloat16, torch.complex64):
    values = torch.arange(12).reshape(3, 4).to(dtype)
    device = values.to("dl")
    torch.dl.reset_fallback_stats()
    copies = device.clone(), device[1:].clone(), device.t().clone()
    target = torch.zeros_like(values).to("dl").copy_(device)
    assert torch.dl.fallback_stats() == {}, torch.dl.fallback_stats().explain()
    expected = values, values[1:], values.t(), values
    for ours, right in zip((*copies, target), expected, strict=True):
        assert torch.equal(ours.cpu(), right), dtype
print("copied")
"""


@pytest.mark.parametrize(("kind", "memory"), ALL)
def test_project_builds_conforms_and_trains(kind: str, memory: str, tmp_path: Path) -> None:
    if not runs_here(kind):
        pytest.skip("no OpenCL driver is installed; DL_OPENCL_DRIVER names another driver")
    project = install(kind, memory, tmp_path)
    doctor = project.run("-m", "dl_core", "doctor")
    assert f"Vendor {project.name} (accelerator" in doctor and "Problems: none" in doctor
    said = project.run(project.folder / "train.py")
    # A device of OpenCL has a name of its own.
    device = ".+" if kind == "opencl" else rf"{project.name} \(stand-in\)"
    losses = re.match(rf"{device}: loss ([\d.]+) -> ([\d.]+)", said)
    assert losses is not None, said
    assert float(losses[2]) < float(losses[1]) / 10
    counted = re.search(r"on the device: (\d+)\n.*to the CPU: (\d+)\n", said)
    assert counted is not None, said
    assert int(counted[1]) > 0
    # Projects of all other kinds have seven operators.
    assert (int(counted[2]) == 0) == (kind == "kernels")
    # Copies within the device need no operator, so that chips of float32 copy all dtypes.
    assert project.run("-c", COPIES) == "copied\n"
    report = project.run("-m", "pytest", "-q", "-p", "no:cacheprovider", project.folder)
    assert re.search(r"^\d+ passed", report, re.MULTILINE), report
