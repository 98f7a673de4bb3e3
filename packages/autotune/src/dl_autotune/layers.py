"""Locations of measured choices. Imports almost nothing, because `import torch` imports it."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from .location import Address, Location, locate

if TYPE_CHECKING:
    from .runners.database import Database


def user_database() -> Location:
    """Return ``$DL_TUNING_DATABASE``, a path or an address, or a file in the user's data folder."""
    if named := os.environ.get("DL_TUNING_DATABASE"):
        return locate(named)
    data = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return Path(data) / "dl" / "tuning.sqlite"


def site_database() -> Location:
    """Return ``$DL_TUNING_SITE``, a path or an address, or a file of the environment. It is never
    written.
    """
    if named := os.environ.get("DL_TUNING_SITE"):
        return locate(named)
    return Path(sys.prefix) / "share" / "dl" / "tuning.sqlite"


@dataclass(frozen=True)
class ChoiceServer:
    """Choices on a server, with the interface :class:`dl_core.tuned_choices.Server`."""

    address: Address

    def read_choices(self) -> Iterable[tuple[str, str, str]]:
        """Return the identity, key and choice of all choices.

        :raises DatabaseError: the database cannot be read.
        """
        from .runners.database import Database

        database = Database(self.address, read_only=True, patience=0)
        try:
            return [(each.identity, each.key, each.choice) for each in database.choices()]
        finally:
            database.close()

    def __str__(self) -> str:
        return str(self.address)


def as_layer(location: Location) -> Path | ChoiceServer:
    """Return the database of a layer, as dl-core reads it."""
    return ChoiceServer(location) if isinstance(location, Address) else location


def open_layers() -> list[tuple[str, Database]]:
    """Open the databases of all layers below the user's for reading; each unusable one causes one
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
        location = path.address if isinstance(path, ChoiceServer) else path
        if name == "user" or not isinstance(location, Path | Address):
            continue
        try:
            found.append((name, Database(location, read_only=True)))
        except DatabaseError as error:
            logging.getLogger("dl_autotune").warning("layer %r is ignored: %s", name, error)
    return found
