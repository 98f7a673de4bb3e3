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
    """Run code that can import `driver` in a child process; a signal is reported as a negative exit
    code."""

    def run(code: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", code],
            # The child can import what this process can, including this folder.
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
