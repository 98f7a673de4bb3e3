"""Locations of measured choices. Imports almost nothing, because `import torch` imports it."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def user_database() -> Path:
    """Return ``$DL_TUNING_DATABASE``, or a file in the user's data folder."""
    if named := os.environ.get("DL_TUNING_DATABASE"):
        return Path(named)
    data = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return Path(data) / "dl" / "tuning.sqlite"


def site_database() -> Path:
    """Return ``$DL_TUNING_SITE``, or a file of the environment; it is never written."""
    if named := os.environ.get("DL_TUNING_SITE"):
        return Path(named)
    return Path(sys.prefix) / "share" / "dl" / "tuning.sqlite"
