"""Locations of measured choices. Imports almost nothing, because `import torch` imports it."""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .runners.database import Database


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


def open_layers() -> list[tuple[str, Database]]:
    """Open the databases of all layers below the user's for reading; each unusable file causes one
    warning.
    """
    from dl_core.manager import PluginManager
    from dl_core.tuned_choices import find_layers

    from .errors import DatabaseError
    from .runners.database import Database

    manager = PluginManager()
    manager.load()
    found = []
    for name, path in find_layers(manager):
        if name == "user":
            continue
        try:
            found.append((name, Database(path, read_only=True)))
        except DatabaseError as error:
            logging.getLogger("dl_autotune").warning("layer %r is ignored: %s", name, error)
    return found
