"""Interface of the engines that store studies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

LONGEST_PROBLEM = 500
"""Maximum characters of an engine's message in ours."""
WAIT_SECONDS = 10.0
"""Seconds to wait for a lock of another process."""


class Engine(Protocol):
    """A connection to one database. Statements are in the SQL that all engines share, with ``?`` as
    the placeholder.

    All methods raise :class:`.DatabaseError` if the database cannot be used; the message names the
    database and the remedy.

    :ivar tables: tables that the database has.
    """

    tables: set[str]

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[Sequence[Any]]:
        """Return the rows that a statement selects."""

    def write(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        """Execute a statement once for each row of values. Repeating it must change nothing."""

    def replace(self, table: str, values: Mapping[str, Any]) -> None:
        """Store a row durably, replacing the one with the same key (:data:`.schema.KEYS`)."""

    def repair(self, key: str, identity: str) -> None:
        """Store a study if there is none with this key, or restore its identity."""

    def transaction(self) -> AbstractContextManager[None]:
        """Apply the changes of the block as one, or discard all."""

    def close(self) -> None:
        """Close the connection."""
