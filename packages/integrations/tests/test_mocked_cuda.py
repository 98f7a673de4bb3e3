"""With CUDA mocked, frameworks that do not know dl use dl."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).with_name("names_no_dl.py")


def test_all_of_a_program_is_on_dl() -> None:
    command = [sys.executable, "-W", "ignore", "-m", "dl_core", "run", "--mock-cuda", str(PROGRAM)]
    done = subprocess.run(
        command, env=dict(os.environ), capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    places = [line.split() for line in done.stdout.splitlines()]
    assert len(places) == 6 and {place for _, place in places} == {"dl"}, done.stdout
