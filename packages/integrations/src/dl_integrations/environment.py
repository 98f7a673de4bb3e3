"""Access to the environment of the process, for all modules."""

from __future__ import annotations

import os


def suggest(name: str, value: str) -> None:
    """Set an environment variable of a framework, unless the user has set it."""
    os.environ.setdefault(name, value)
