"""Child processes of a release's checks."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

from .declared import ReleaseError

_MOST_LINES = 30
"""Lines of output in an error; the last ones have the cause."""


def run(
    *command: str, folder: Path | None = None, variables: Mapping[str, str] | None = None
) -> str:
    """Run a command and return its output.

    :param variables: the whole environment; None: that of this process.
    :raises ReleaseError: the exit status is not 0; the message has the last lines of output.
    """
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, env=variables, check=False
    )
    if done.returncode:
        last = "\n".join((done.stdout + done.stderr).splitlines()[-_MOST_LINES:])
        raise ReleaseError(f"[release] {' '.join(command[:6])} failed:\n{last}")
    return done.stdout
