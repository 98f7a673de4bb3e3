"""Access to the environment of the process; all other modules use this one.

:mod:`.options` parses the values. No tool writes to the environment, so that tools do not affect
each other. Imported with torch, so that it imports nothing itself.
"""

from __future__ import annotations

import os
from collections.abc import Mapping


def environment() -> Mapping[str, str]:
    """Return the current variables, as a live mapping."""
    return os.environ


def replace_environment(program: Mapping[str, str]) -> None:
    """Use the variables of another program, which this process runs from now on."""
    os.environ.clear()
    os.environ.update(program)
