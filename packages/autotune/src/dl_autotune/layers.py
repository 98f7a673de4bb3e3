"""Where measured choices are. Imports next to nothing: torch's import asks for it."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def user_database() -> Path:
    """``$DL_TUNING_DATABASE``, or a file in the person's data folder."""
    if named := os.environ.get("DL_TUNING_DATABASE"):
        return Path(named)
    data = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return Path(data) / "dl" / "tuning.sqlite"


def site_database() -> Path:
    """``$DL_TUNING_SITE``, or a file that belongs to the environment; read, never written."""
    if named := os.environ.get("DL_TUNING_SITE"):
        return Path(named)
    return Path(sys.prefix) / "share" / "dl" / "tuning.sqlite"
