from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable

import pytest

SECONDS = 100

RunTorch = Callable[..., str]


@pytest.fixture
def run_torch() -> RunTorch:
    """Return the output of code in a new process, where dl:0 and dl:1 are this vendor's devices."""

    def run(code: str, **variables: str) -> str:
        done = subprocess.run(
            [sys.executable, "-c", f"import torch\n{code}"],
            env={**os.environ, "DL_VENDORS": "onefile", **variables},
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        return done.stdout.strip()

    return run
