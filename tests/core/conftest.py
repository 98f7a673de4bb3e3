"""Tests of the dl device as users meet it: they need dl-core and a vendor, and fail without."""

from __future__ import annotations

import faulthandler
import gc
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator

import pytest
import torch

SECONDS_PER_TEST = 120
SECONDS_PER_PROCESS = 100

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(autouse=True)
def _device() -> Iterator[None]:
    """Fails, rather than skips, where there is no device; ends a process that hangs."""
    if not hasattr(torch, "dl") or not torch.dl.is_available():
        pytest.fail("there is no dl device: install dl-core and a vendor; `dl doctor` says more")
    faulthandler.dump_traceback_later(SECONDS_PER_TEST, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()
    assert torch.dl.fallback_mode() == "allow", "the test left the fallback forbidden"
    torch.dl.set_device(0)
    gc.collect()


@pytest.fixture
def vendor() -> str:
    """The vendor of dl:0."""
    return str(torch.dl.get_device_properties(0).vendor)


@pytest.fixture
def run_python() -> Run:
    """Run code in a process of its own; keyword arguments are its environment variables."""

    def run(code: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", textwrap.dedent(code)],
            env={**os.environ, **variables},
            capture_output=True,
            text=True,
            timeout=SECONDS_PER_PROCESS,
            check=False,
        )

    return run


def installed_vendors() -> set[str]:
    """Names of the vendors this environment has."""
    from importlib.metadata import entry_points

    return {entry.name for entry in entry_points(group="dl")}
