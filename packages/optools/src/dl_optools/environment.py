"""The one module that reads the environment of the process; others get it from here.

:mod:`.options` makes values of it. No tool writes to it: what one reads does not change another.
Imported with torch, so that it imports nothing itself.
"""

from __future__ import annotations

import os
from collections.abc import Mapping


def environment() -> Mapping[str, str]:
    """All variables, as they are whenever they are looked at."""
    return os.environ


def replace_environment(program: Mapping[str, str]) -> None:
    """Take the variables of another program, which this process is from now on."""
    os.environ.clear()
    os.environ.update(program)
