"""The only module that reads the environment of the process.

:mod:`.config` converts the variables to settings. Some modules import this one even before Python's
    path is cleaned, so it must have few imports.
"""

from __future__ import annotations

import os
from collections.abc import Mapping


def environment() -> Mapping[str, str]:
    """Return a live view of all variables."""
    return os.environ
