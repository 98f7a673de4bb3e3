"""The only module that reads environment variables; other modules use it.

Host processes import it at every start, so it imports next to nothing.
"""

from __future__ import annotations

import os
from collections.abc import Mapping


def environment() -> Mapping[str, str]:
    """Return a live view of all environment variables."""
    return os.environ
