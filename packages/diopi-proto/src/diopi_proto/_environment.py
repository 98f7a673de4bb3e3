"""The one module that reads the environment of the process; others get it from here.

Host processes import it at every start, so that it imports next to nothing.
"""

from __future__ import annotations

import os
from collections.abc import Mapping


def environment() -> Mapping[str, str]:
    """All variables, as they are whenever they are looked at."""
    return os.environ
