"""First steps of CUDA users run on dl, unmodified, and are in the documentation."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from first_steps import PAGE, STEPS, page
from further_steps import FURTHER
from step import Step


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
def test_a_first_step_runs_on_dl(step: Step, tmp_path: Path) -> None:
    check(step, tmp_path)


@pytest.mark.parametrize("step", FURTHER, ids=lambda step: step.name)
def test_a_step_with_a_further_package_runs_on_dl(step: Step, tmp_path: Path) -> None:
    if importlib.util.find_spec(step.package.replace("-", "_")) is None:
        pytest.skip(f"{step.package} is not installed")
    check(step, tmp_path)


def check(step: Step, tmp_path: Path) -> None:
    """Run the program of a step and check the devices that it prints."""
    program = tmp_path / "train.py"
    program.write_text(step.code)
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(__file__).parent),
        "DL_CPU_DEVICES": str(step.devices),
        "OMP_NUM_THREADS": "1",
    }
    command = [sys.executable, "-W", "ignore", *step.launcher, str(program), str(tmp_path)]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=240, check=False, env=environment
    )
    # Lines of two processes may be joined.
    lines = re.findall(r"^(?:dl:\d+|cpu)+$", done.stdout, re.MULTILINE)
    devices = set(re.findall(r"dl:\d+|cpu", " ".join(lines)))
    assert done.returncode == 0, done.stderr
    assert devices == {f"dl:{index}" for index in range(step.devices)}, done.stdout + done.stderr


def test_there_are_fifteen_steps_or_more() -> None:
    assert len({step.name for step in STEPS}) == len(STEPS) >= 15


def test_the_table_of_the_documentation_is_current() -> None:
    assert PAGE.read_text("utf-8") == page(), "run first_steps.py to update the page"
