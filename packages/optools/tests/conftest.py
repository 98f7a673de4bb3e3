"""Fixtures: every test leaves torch unchanged."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from torch.utils import _python_dispatch

# These tests start processes for half a minute: `nox -s full` sets this.
collect_ignore = [] if os.environ.get("DL_TEST_SAMPLE") == "1" else ["test_at_length.py"]
FLAGS = (
    "_is_in_torch_dispatch_mode",
    "_is_in_non_infra_torch_dispatch_mode",
    "_is_in_any_mode_without_ignore_compile_internals",
)


def torch_state() -> tuple[object, ...]:
    """Return the stacks of modes and torch's global flags about them."""
    return (
        torch._C._len_torch_function_stack(),
        torch._C._len_torch_dispatch_stack(),
        *(getattr(_python_dispatch, name) for name in FLAGS),
    )


@pytest.fixture(autouse=True)
def torch_restored() -> Iterator[None]:
    before = torch_state()
    yield
    assert torch_state() == before


@pytest.fixture(autouse=True)
def results_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write results into a folder of the test."""
    monkeypatch.setenv("DL_TOOLS_OUTPUT", str(tmp_path / "op_tools_results"))


def accelerators() -> list[str]:
    """Return ``dl`` if it is installed, for tests that run on the CPU and on dl."""
    found = torch.accelerator.current_accelerator()
    return [] if found is None else [found.type]


@pytest.fixture(params=["cpu", *accelerators()])
def device(request: pytest.FixtureRequest) -> str:
    """Device types to test on, always including the CPU."""
    return str(request.param)
