"""Models that train on fakes of CNRT and CNNL with the losses of the CPU."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from extension_tests.simulated_vendor import SimulatedVendor

from conftest import with_fakes
from processes import PROCESSES

torch = pytest.importorskip("torch")
pytestmark = with_fakes
TESTS = PROCESSES.folder.parents[1] / "tests"
MODELS = "mlp", "cnn", "encoder", "decoder"


def train(name: str, file: Path, **variables: str) -> dict[str, Any]:
    """Train a model of the repository in a process of its own, and return its results."""
    done = subprocess.run(
        [sys.executable, "-m", "models.simulated", name, str(file)],
        cwd=TESTS,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "misuse" not in done.stderr, done.stderr
    found: dict[str, Any] = torch.load(file)
    return found


@pytest.mark.parametrize("name", MODELS)
def test_a_model_trains_as_on_the_cpu(
    simulated_vendor: SimulatedVendor, tmp_path: Path, name: str
) -> None:
    here = train(name, tmp_path / "here.pt", DL_VENDORS="cpu")
    there = train(
        name, tmp_path / "there.pt", **{**simulated_vendor.variables, "DL_VENDORS": "cambricon"}
    )
    torch.testing.assert_close(there["losses"], here["losses"], rtol=1e-3, atol=1e-5)
    assert there["losses"][0] != there["losses"][-1], "nothing was learnt"
