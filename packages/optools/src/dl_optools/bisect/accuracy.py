"""Check whether the operators that a search blames compute correctly after all.

Training can amplify the last bit of a value into a different loss: an optimizer that divides by the
size of a gradient magnifies a gradient that is nearly zero. An operator that rounds differently
from the CPU then makes the metric wrong although the operator is correct.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

LIMIT = 600.0


def calls_are_right(bundles: Path, device: str | None, environ: Mapping[str, str]) -> bool:
    """Return True if all captured calls are within the rounding bound, replayed and as recorded.

    :param bundles: captured calls of the blamed operators.
    :param device: type of the device that they ran on; None: the accelerator.
    """
    chosen = [] if device is None else ["--device", device]
    command = [sys.executable, "-m", "dl_core.cli", "replay", str(bundles), "--check", *chosen]
    try:
        done = subprocess.run(command, env=dict(environ), capture_output=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def format_message(names: str, bundles: Path) -> str:
    """Return the message for the user."""
    return (
        f"{names}: with it on the device the metric is off, but its calls are right, within the "
        "rounding bound: the program amplifies last bits. Nothing is to blame; a larger "
        f"--tolerance avoids this search. Its calls: {bundles}"
    )
