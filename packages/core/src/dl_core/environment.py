"""The one module that reads the environment of the process; others get it from here.

:mod:`.config` makes settings of it. Whatever imports torch imports this, also before Python's path
is in order, so that it imports next to nothing.
"""

from __future__ import annotations

import os
from collections.abc import Mapping


def environment() -> Mapping[str, str]:
    """All variables, as they are whenever they are looked at."""
    return os.environ
