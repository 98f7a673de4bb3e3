"""Tests that operators return before the device has finished, except those that are listed.

An operator that waits stalls a training step and cannot be captured in a graph.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from dl_conformance.commit_seed import commit_seed

HERE = Path(__file__).parent
PARTS = 40


def listed_operators() -> dict[str, str]:
    """Return the listed operators, each with its reason."""
    lines = (HERE / "waiting_operators.txt").read_text(encoding="utf-8").splitlines()
    pairs = [line.partition("  ")[::2] for line in lines if line and not line.startswith("#")]
    assert all(reason.strip() for _, reason in pairs), "an operator without a reason"
    return {name: reason.strip() for name, reason in pairs}


def observed_waits(parts: int, seed: int) -> dict[str, list[str]]:
    """Return the driver calls in which each operator waited, for a sample of the operators."""
    if importlib.util.find_spec("dl_gpu_sim") is None:
        pytest.skip("dl-gpu-sim is not installed")
    from dl_gpu_sim.paths import library

    done = subprocess.run(
        [sys.executable, str(HERE / "waits.py"), f"{parts}/{seed}"],
        env={**os.environ, "DL_CUDA_DRIVER": str(library())},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    calls: dict[str, list[str]] = json.loads(done.stdout)
    return calls


def test_only_operators_that_are_listed_wait() -> None:
    """Checks a sample that differs for each commit; DL_TEST_SAMPLE=1 checks all operators."""
    every = os.environ.get("DL_TEST_SAMPLE") == "1"
    calls = observed_waits(1, 0) if every else observed_waits(PARTS, int(commit_seed(HERE), 16))
    assert len(calls) > (500 if every else 1)
    listed = listed_operators()
    waited = {name: where for name, where in calls.items() if where}
    assert {name: where for name, where in waited.items() if name not in listed} == {}
    assert [name for name in listed if name in calls and name not in waited] == []


def test_a_wait_is_detected() -> None:
    """Checks an operator that must wait, because the size of its result depends on the data."""
    assert "diopiNonzero" in listed_operators()
    from dl_conformance.catalog import in_sample

    parts = 200
    chosen = next(x for x in range(10**6) if in_sample("diopiNonzero", parts, x))
    assert observed_waits(parts, chosen)["diopiNonzero"] == [
        "cuMemcpyDtoHAsync",
        "cuStreamSynchronize",
    ]
