"""Whether operators that a search convicts compute right after all.

Training can turn a last bit into another loss: an optimizer that divides by the size of a gradient
makes much of one that is nearly nothing. Then an operator that rounds otherwise than the CPU makes
the metric wrong, and is right.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

LIMIT = 600.0


def acquitted(bundles: Path, device: str | None, environ: Mapping[str, str]) -> bool:
    """Whether all captured calls are within the rounding bound, replayed and as they were.

    :param bundles: of the operators that were convicted.
    :param device: type of the device that they ran on; None: the accelerator.
    """
    chosen = [] if device is None else ["--device", device]
    command = [sys.executable, "-m", "dl_core.cli", "replay", str(bundles), "--check", *chosen]
    try:
        done = subprocess.run(command, env=dict(environ), capture_output=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def told(names: str, bundles: Path) -> str:
    """What a user has of it."""
    return (
        f"{names}: with it on the device the metric is off, but its calls are right, within the "
        "rounding bound: the program makes much of last bits. Nothing is to blame; a larger "
        f"--tolerance says so at once. Its calls: {bundles}"
    )
