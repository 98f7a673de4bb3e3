"""Measured choices, read from the databases of several layers and merged.

Does not import torch. :func:`.hookspecs.dl_tuned_databases` returns the databases: SQLite files
with a table ``choices``, which dl-autotune writes, or objects that read choices from a server.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol

from diopi_proto.text import printable
from dl_core.errors import describe_error
from dl_core.foreign_database import (
    Deadline,
    ForeignDatabaseError,
    check_file,
    check_version,
    open_read_only,
    ordinary_tables,
)
from dl_core.manager import PluginManager

FIRST = ("user", "site")
"""Layers that have precedence over all others, in this order."""
SCHEMA = """
CREATE TABLE IF NOT EXISTS choices (
  identity TEXT NOT NULL, key TEXT NOT NULL, choice TEXT NOT NULL, operator TEXT NOT NULL,
  ratio REAL NOT NULL, low REAL NOT NULL, high REAL NOT NULL,
  finished TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP, PRIMARY KEY (identity, key)
);
"""
"""``identity`` and ``key`` are values of the vendor's choices extension; ``ratio`` is the time of
the vendor's default choice divided by the time of this one, with its confidence interval."""

LONGEST_KEY, LONGEST_CHOICE = 4096, 256
"""Maximum number of characters of an entry."""
_KEY = re.compile(r"[^:]*:(-?[0-9]{1,18}(,-?[0-9]{1,18}){0,63})?")
"""Format of ``str`` of :class:`diopi_proto.choices.ChoiceKey`."""
_WHOLE = (
    "typeof(identity) = 'text' AND typeof(key) = 'text' AND typeof(choice) = 'text'"
    f" AND length(key) <= {LONGEST_KEY} AND length(choice) <= {LONGEST_CHOICE}"
)
"""SQL condition for valid rows."""
_MOST_CHOICES = 100_000
_LONGEST_PROBLEM = 300
_log = logging.getLogger("dl_core.tuning")


class Server(Protocol):
    """Database on a server. ``str`` returns its address without a password."""

    def read_choices(self) -> Iterable[tuple[str, str, str]]:
        """Return the identity, key and choice of each entry.

        :raises Exception: they cannot be read; the message has the reason.
        """


Database = Path | Server
"""Database of a layer."""


@dataclass
class Layers:
    """The merged choices of all layers for one identity.

    :ivar choices: by key; the first layer that has a key decides.
    :ivar origins: number of choices from each layer.
    :ivar ignored: number of entries for another release or device.
    :ivar unreadable: databases that were ignored, each with the reason.
    """

    choices: dict[str, str] = field(default_factory=dict)
    origins: dict[str, int] = field(default_factory=dict)
    ignored: int = 0
    unreadable: list[str] = field(default_factory=list)


def find_layers(manager: PluginManager) -> list[tuple[str, Database]]:
    """Return the servers and existing files of all plugins, in order of precedence. Never
    raises.
    """
    found = []
    for record, contribution in manager.contributions("dl_tuned_databases"):
        try:
            path = contribution.load()
            if not isinstance(path, Path) or path.is_file():
                found.append((contribution.name, path))
            elif path.exists():
                _log.warning(
                    "tuned choices of layer %r are ignored: %s is not a file",
                    contribution.name,
                    path,
                )
        except Exception as error:  # noqa: BLE001 - a plugin's code, while torch is imported
            _log.warning(
                "%s: its tuned choices are ignored: %s", record.wheel, describe_error(error)
            )
    rank = {name: number for number, name in enumerate(FIRST)}
    return sorted(found, key=lambda layer: (rank.get(layer[0], len(rank)), layer[0]))


def read_layers(layers: Iterable[tuple[str, Database]], identity: str) -> Layers:
    """Merge the choices of several databases for an identity. Each unusable one causes one warning.

    :param layers: names and databases, in order of precedence.
    """
    merged = Layers()
    for name, path in layers:
        try:
            found = _read(path, identity) if isinstance(path, Path) else _request(path, identity)
        except _problems() as error:
            said = printable(str(error), _LONGEST_PROBLEM)
            merged.unreadable.append(f"{path}: {said}")
            _log.warning("tuned choices of layer %r are ignored: %s: %s", name, path, said)
            continue
        if found is None:
            continue
        merged.ignored += found.ignored
        if found.damaged:
            _log.warning(
                "tuned choices of layer %r: %s has %d damaged entries, which are ignored",
                name,
                path,
                found.damaged,
            )
        fresh = {key: c for key, c in found.choices.items() if key not in merged.choices}
        merged.choices |= fresh
        merged.origins[name] = len(fresh)
    return merged


class _Found(NamedTuple):
    """The entries of one file."""

    choices: dict[str, str]
    ignored: int
    damaged: int


def _problems() -> tuple[type[Exception], ...]:
    import sqlite3

    return sqlite3.Error, OSError, ForeignDatabaseError


def _request(server: Server, identity: str) -> _Found:
    """Return the entries of a server.

    :raises ForeignDatabaseError: they cannot be read.
    """
    try:
        entries = [*server.read_choices()]
    except Exception as error:  # a plugin's code
        raise ForeignDatabaseError(describe_error(error)) from error
    if len(entries) > _MOST_CHOICES:
        raise ForeignDatabaseError(f"it has more than {_MOST_CHOICES:,} choices")
    fitting = [(key, choice) for owner, key, choice in entries if owner == identity]
    usable = {
        key: choice
        for key, choice in fitting
        if len(key) <= LONGEST_KEY and len(choice) <= LONGEST_CHOICE and _KEY.fullmatch(key)
    }
    return _Found(usable, len(entries) - len(fitting), len(fitting) - len(usable))


def _read(path: Path, identity: str) -> _Found | None:
    """Return the entries of a file; None if it has no such table, as before the first tuning.

    :raises Exception: one of :func:`_problems`.
    """
    check_file(path)
    connection = open_read_only(path)
    try:
        with Deadline(connection).statement():
            check_version(connection)
            if "choices" not in ordinary_tables(connection):
                return None
            fitting = connection.execute(
                f"SELECT key, choice FROM choices WHERE identity = ? AND {_WHOLE} LIMIT ?",
                (identity, _MOST_CHOICES + 1),
            ).fetchall()
            count, whole = connection.execute(
                f"SELECT count(*), count(CASE WHEN {_WHOLE} THEN 1 END) FROM choices"
            ).fetchone()
    finally:
        connection.close()
    if len(fitting) > _MOST_CHOICES:
        raise ForeignDatabaseError(f"it has more than {_MOST_CHOICES:,} choices for one device")
    usable = {key: choice for key, choice in fitting if _KEY.fullmatch(key)}
    unusable = len(fitting) - len(usable)
    return _Found(usable, whole - len(fitting), count - whole + unusable)
