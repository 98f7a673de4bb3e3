"""Vendor wheels of earlier releases run unchanged: under torch, in the suite and in `dl doctor`."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent / "releases"
WHEELS = {
    "dl_vendor_onefile-0.1.0-py3-none-manylinux_2_35_x86_64.whl": (
        "b92cf15475ced157156f618c8f0f4304eabc94dc9a4088e7f4c559ff7133347d"
    ),
}
SECONDS = 300
OPERATORS = ("diopiAdd", "diopiMul", "diopiNeg", "diopiRelu", "diopiCopyInp", "diopiMm")
NATIVE = """
import torch
torch.manual_seed(0)
x, y, row = torch.randn(3, 4), torch.randn(3, 4), torch.randn(4)
for device in ("dl:0", "dl:1"):
    a, b, c = x.to(device), y.to(device), row.to(device)
    with torch.dl.fallback("error"):
        torch.testing.assert_close((a + c).relu().cpu(), (x + row).relu())
        torch.testing.assert_close((a @ b.t()).neg().cpu(), (x @ y.t()).neg())
        torch.testing.assert_close((a * b).t().contiguous().cpu(), (x * y).t())
assert torch.dl.fallback_stats().totals["fallback"] == 0
# Other operators, gradients and an optimizer run on the CPU with copies.
model = torch.nn.Linear(4, 1).to("dl")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
losses = []
for _ in range(5):
    optimizer.zero_grad()
    loss = (model(x.to("dl")) - 1).square().mean()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
assert losses[-1] < losses[0]
print(torch.dl.get_device_name(0))
"""

pytestmark = pytest.mark.skipif(
    (sys.platform, platform.machine()) != ("linux", "x86_64"), reason="wheels for x86-64 Linux"
)


@pytest.fixture(params=sorted(WHEELS))
def wheel_files(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Return a folder with the files of a kept wheel."""
    with zipfile.ZipFile(FOLDER / request.param) as archive:
        archive.extractall(tmp_path)
    return tmp_path


def run(wheel_files: Path, *command: str) -> str:
    """Run a Python command for which the kept wheel is the only vendor; return its output."""
    path = os.pathsep.join(filter(None, [str(wheel_files), os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        [sys.executable, *command],
        env={**os.environ, "PYTHONPATH": path, "DL_VENDORS": "onefile"},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


def test_kept_wheels_are_those_of_the_releases() -> None:
    found = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in FOLDER.iterdir()}
    assert found == WHEELS


def test_a_kept_vendor_runs_under_torch(wheel_files: Path) -> None:
    assert run(wheel_files, "-W", "error", "-c", NATIVE).strip() == "simulated device 0"


def test_a_kept_vendor_passes_the_suite(wheel_files: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    names = [part for name in OPERATORS for part in ("--fname", name)]
    options = ("--vendor", "onefile", "--sample", "4/1", "--json", str(report))
    run(wheel_files, "-m", "dl_conformance", *options, *names)
    counts = json.loads(report.read_text())["counts"]
    assert counts["passed"] > 0 and counts.get("failed", 0) == 0


def test_doctor_knows_the_kept_vendor_and_its_operators(wheel_files: Path) -> None:
    said = json.loads(run(wheel_files, "-m", "dl_core", "doctor", "--json"))
    (vendor,) = (each for each in said["vendors"] if each["name"] == "onefile")
    assert vendor["library"].startswith(str(wheel_files))
    assert vendor["operators"] > 0 and vendor["device_count"] == 2
    assert not vendor["mismatched"] and not vendor["unknown"] and not vendor["error"]
