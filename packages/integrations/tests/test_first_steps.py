"""First steps of CUDA users run on dl, unmodified, and are in the documentation."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from first_steps import PAGE, STEPS, Step, page


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
def test_a_first_step_runs_on_dl(step: Step, tmp_path: Path) -> None:
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
