from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from driver import TIMEOUT_SECONDS, Driver


@pytest.fixture
def driver() -> Iterator[Driver]:
    with closing(Driver()) as opened:
        yield opened


@pytest.fixture
def run_python() -> Callable[[str], subprocess.CompletedProcess[str]]:
    """Run code in a process of its own that can import `driver`; -1 * signal is its exit code."""

    def run(code: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", code],
            # What can be imported here, this folder included, can be imported there.
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join(str(Path(p).absolute()) for p in sys.path),
            },
            capture_output=True,
            text=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )

    return run
