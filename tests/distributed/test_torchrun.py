"""Processes that torchrun starts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.vendor("cpu")  # the ranks select their own vendors

PROGRAM = Path(__file__).with_name("torchrun_program.py")


def test_torchrun_starts_ranks_on_dl() -> None:
    command = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", str(PROGRAM)]
    done = subprocess.run(
        [sys.executable, *command],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    wanted = [f"rank {rank} of 2: [3.0, 3.0], gradient [[3.0, 3.0]]" for rank in (0, 1)]
    assert sorted(done.stdout.splitlines()) == wanted
