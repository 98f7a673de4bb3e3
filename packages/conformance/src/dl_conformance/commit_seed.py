"""Random seed for samples of cases: different for each commit, so that all cases run over time."""

from __future__ import annotations

import subprocess
from pathlib import Path


def commit_seed(folder: Path) -> str:
    """Return the short name of the commit that is checked out in a folder's git repository.

    The same commit draws the same samples. Without a repository or git, the seed is ``"0"``.
    """
    command = ["git", "-C", str(folder), "rev-parse", "--short", "HEAD"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "0"
    return done.stdout.strip()
