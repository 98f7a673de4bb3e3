"""The one module that looks at the environment of the process."""

from __future__ import annotations

import os


def suggest(name: str, value: str) -> None:
    """Set a variable that a framework reads, unless the user has set it."""
    os.environ.setdefault(name, value)
