"""Operators return before the device has finished: those that wait are listed, with the reason.

What waits stops a training step, and no graph can capture it.
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


def waiting() -> dict[str, str]:
    """The list: an operator and its reason on each line."""
    lines = (HERE / "waiting_operators.txt").read_text(encoding="utf-8").splitlines()
    pairs = [line.partition("  ")[::2] for line in lines if line and not line.startswith("#")]
    assert all(reason.strip() for _, reason in pairs), "an operator without a reason"
    return {name: reason.strip() for name, reason in pairs}


def found(parts: int, seed: int) -> dict[str, list[str]]:
    """The calls of the driver in which each operator waited, of a share of the operators."""
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
    """A share of them, another one for each commit; DL_TEST_SAMPLE=1 looks at all."""
    every = os.environ.get("DL_TEST_SAMPLE") == "1"
    calls = found(1, 0) if every else found(PARTS, int(commit_seed(HERE), 16))
    assert len(calls) > (500 if every else 1)
    listed = waiting()
    waited = {name: where for name, where in calls.items() if where}
    assert {name: where for name, where in waited.items() if name not in listed} == {}
    assert [name for name in listed if name in calls and name not in waited] == []


def test_a_wait_is_seen() -> None:
    """In the same way, of one that has to: the size of its result is in the data."""
    assert "diopiNonzero" in waiting()
    from dl_conformance.catalog import in_sample

    parts = 200
    chosen = next(x for x in range(10**6) if in_sample("diopiNonzero", parts, x))
    assert found(parts, chosen)["diopiNonzero"] == ["cuMemcpyDtoHAsync", "cuStreamSynchronize"]
