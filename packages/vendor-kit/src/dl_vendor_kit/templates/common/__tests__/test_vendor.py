"""The library, its operators, operators of torch, and a model that trains on them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from dl_vendor___chip__.plugin import dl_vendor

ROOT = Path(__file__).parents[1]
# Operators in the sweep of dl-torch-tests; .github/workflows/test.yaml runs it whole.
SWEPT = ("add", "copysign", "cumsum", "exp", "mm", "mul", "nn.functional.relu", "sum")


def run(*command: str) -> str:
    """Return the output of a program for which this vendor serves ``dl:0``."""
    done = subprocess.run(
        [sys.executable, *command],
        env={**os.environ, "DL_VENDORS": "__chip__"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


def test_library_passes_the_check() -> None:
    run("-m", "dl_core", "vendor", "check", str(dl_vendor().library))


def test_promised_operators_conform() -> None:
    run("-m", "dl_conformance", "--vendor", "__chip__", "--profile", "__chip__")


def test_operators_of_torch_are_right() -> None:
    named = " or ".join(f"test_operator_is_right[forward-float32-{name}]" for name in SWEPT)
    tests = ("--pyargs", "dl_torch_tests.opinfo.test_sweep")
    run("-m", "pytest", "-q", f"--rootdir={ROOT}", *tests, "-k", named)


def test_model_learns() -> None:
    code = """
import torch
from train import train
on_device, on_cpu = train("dl"), train("cpu")
torch.testing.assert_close(on_device, on_cpu, rtol=1e-4, atol=1e-5)
assert on_device[-1] < on_device[0]
assert torch.dl.fallback_stats().totals["native"] > 0
"""
    run("-c", f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{code}")
