"""Models and engines of the tests; each needs a process with vLLM and a dl device."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import pytest
from families import VOCABULARY, save

HERE = Path(__file__).parent
Results = dict[str, dict[str, Any]]


class Run(Protocol):
    """Function that runs jobs in one process on a device, with additional variables."""

    def __call__(self, device: str, jobs: list[dict[str, Any]], **variables: str) -> Results: ...


def prompts(count: int, seed: int = 0, shortest: int = 5, longest: int = 40) -> list[list[int]]:
    """Return prompts of random tokens and lengths."""
    draw = random.Random(seed)
    return [
        [draw.randrange(3, VOCABULARY) for _ in range(draw.randint(shortest, longest))]
        for _ in range(count)
    ]


GREEDY = {"temperature": 0, "max_tokens": 24, "ignore_eos": True}


def environment(device: str) -> dict[str, str]:
    """Return the environment of an engine on ``dl`` or on vLLM's own ``cpu`` backend."""
    variables = {**os.environ, "HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1"}
    variables["VLLM_LOGGING_LEVEL"] = "WARNING"
    if device == "cpu":
        variables["VLLM_TARGET_DEVICE"] = "cpu"
    else:
        variables.pop("VLLM_TARGET_DEVICE", None)
    return variables


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Return a function that runs jobs in one process on a device."""

    def run_jobs(device: str, jobs: list[dict[str, Any]], **variables: str) -> Results:
        folder = tmp_path_factory.mktemp(f"engine-{device}")
        (folder / "jobs.json").write_text(json.dumps(jobs))
        command = [sys.executable, str(HERE / "run_engine.py"), "jobs.json", "results.json"]
        done = subprocess.run(
            command,
            cwd=folder,
            env={**environment(device), **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=900,
            check=False,
        )
        results = folder / "results.json"
        if not results.exists():
            pytest.fail(f"the engine ended with {done.returncode}:\n{done.stdout[-4000:]}")
        found: Results = json.loads(results.read_text())
        missing = {job["name"] for job in jobs} - set(found)
        assert not missing, f"{missing} did not run:\n{done.stdout[-4000:]}"
        return found

    return run_jobs


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """Return a function that saves a model of a family and returns its folder."""
    folder = tmp_path_factory.mktemp("models")
    saved: dict[str, str] = {}

    def path(family: str) -> str:
        if family not in saved:
            saved[family] = str(save(family, folder))
        return saved[family]

    return path
