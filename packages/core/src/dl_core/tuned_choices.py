"""Choices that were measured, in the files of several layers.

Imports no torch. :func:`.hookspecs.dl_tuned_databases` names the files: SQLite databases with a
table ``choices``, which dl-autotune writes.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from dl_core.errors import said_by
from dl_core.manager import PluginManager

FIRST = ("user", "site")
"""Names of the layers that go before all others, in this order."""
SCHEMA = """
CREATE TABLE IF NOT EXISTS choices (
  identity TEXT NOT NULL, key TEXT NOT NULL, choice TEXT NOT NULL, operator TEXT NOT NULL,
  ratio REAL NOT NULL, low REAL NOT NULL, high REAL NOT NULL,
  finished TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP, PRIMARY KEY (identity, key)
);
"""
"""``identity`` and ``key`` are as the vendor's choices extension tells them, ``ratio`` is of times,
the vendor's usual choice by this one, with its interval."""

if TYPE_CHECKING:
    import sqlite3

_log = logging.getLogger("dl_core.tuning")


@dataclass
class Layers:
    """What all layers say for one identity.

    :ivar choices: by key; the first layer that has a key decides.
    :ivar origins: how many of them each layer gave.
    :ivar ignored: entries of another release or device.
    :ivar unreadable: files that were left out, each with the reason.
    """

    choices: dict[str, str] = field(default_factory=dict)
    origins: dict[str, int] = field(default_factory=dict)
    ignored: int = 0
    unreadable: list[str] = field(default_factory=list)


def found_layers(manager: PluginManager) -> list[tuple[str, Path]]:
    """The files of all plugins that are there, those that decide first first. Never raises."""
    found = []
    for record, contribution in manager.contributions("dl_tuned_databases"):
        try:
            path = contribution.load()
            if path.is_file():
                found.append((contribution.name, path))
            elif path.exists():
                _log.warning(
                    "tuned choices of layer %r are left out: %s is no file", contribution.name, path
                )
        except Exception as error:  # noqa: BLE001 - a plugin's code, while torch is imported
            _log.warning("%s: its tuned choices are left out: %s", record.wheel, said_by(error))
    rank = {name: number for number, name in enumerate(FIRST)}
    return sorted(found, key=lambda layer: (rank.get(layer[0], len(rank)), layer[0]))


def read_only(path: Path) -> sqlite3.Connection:
    """A database to read, also where nothing can be written.

    :raises sqlite3.Error: it cannot be read.
    """
    import sqlite3

    uri = f"{path.resolve().as_uri()}?mode=ro"
    connection = sqlite3.connect(uri, uri=True)
    try:
        connection.execute("SELECT count(*) FROM sqlite_master")
    except sqlite3.OperationalError:
        connection.close()
        if os.access(path.parent, os.W_OK):
            raise
        # SQLite makes files beside one with a log to read it, which a read-only medium does not
        # take; there nobody writes to it either.
        connection = sqlite3.connect(f"{uri}&immutable=1", uri=True)
    return connection


def read_layers(layers: Iterable[tuple[str, Path]], identity: str) -> Layers:
    """Merge what files say for an identity. A file that cannot be read is one warning."""
    import sqlite3

    merged = Layers()
    for name, path in layers:
        try:
            connection = read_only(path)
            try:
                rows = connection.execute("SELECT identity, key, choice FROM choices").fetchall()
            finally:
                connection.close()
        except sqlite3.Error as error:
            # A person's file of trials has no choices before the first operator is tuned.
            if "no such table" not in str(error):
                merged.unreadable.append(f"{path}: {error}")
                _log.warning("tuned choices of layer %r are left out: %s: %s", name, path, error)
            continue
        fitting = {key: choice for of, key, choice in rows if of == identity}
        merged.ignored += len(rows) - len(fitting)
        fresh = {key: choice for key, choice in fitting.items() if key not in merged.choices}
        merged.choices |= fresh
        merged.origins[name] = len(fresh)
    return merged
