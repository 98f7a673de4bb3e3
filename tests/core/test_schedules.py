"""Streams, events and the allocator protect what is being read from being overwritten, in any
order.

:mod:`core.schedules` runs random schedules; without the protecting calls, it must fail.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from .processes import RUNS_ONCE, path_with

pytestmark = RUNS_ONCE

TESTS = Path(__file__).resolve().parents[1]


def run(examples: int, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "core.schedules", str(examples), "1", *options],
        env={
            **os.environ,
            "PYTHONPATH": path_with(TESTS),
            "DL_VENDORS": "async",
            "DL_FALLBACK": "error",
        },
        capture_output=True,
        text=True,
        timeout=1000,
        check=False,
    )


@pytest.mark.parametrize("examples", [800, pytest.param(10_000, marks=pytest.mark.full)])
def test_no_read_is_stale(examples: int) -> None:
    done = run(examples)
    assert done.returncode == 0, done.stderr[-3000:]


def test_schedules_without_record_stream_are_found_wrong() -> None:
    done = run(800, "careless")
    assert done.returncode == 1
    assert "was read as" in done.stderr and "Falsifying" in done.stderr
