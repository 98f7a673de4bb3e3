"""SQLite with a write-ahead log, so that no trial is lost."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from diopi_proto.text import printable
from dl_core.foreign_database import (
    VERSION,
    Deadline,
    ForeignDatabaseError,
    check_file,
    check_version,
    open_read_only,
    ordinary_tables,
)
from dl_core.tuned_choices import SCHEMA as CHOICES

from ..errors import DatabaseError, UnavailableDatabaseError
from .engine import LONGEST_PROBLEM, WAIT_SECONDS
from .schema import COLUMNS, SCHEMA


class SqliteEngine:
    """A file. One without write permission is opened for reading.

    :param read_only: open the file for reading, and create nothing.
    :raises DatabaseError: the file is not a database, is of a newer version, cannot be written, or
        can be written by others.
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self._path = path
        self._deadline: Deadline | None = None
        with self._naming_the_file():
            if not read_only:
                path.parent.mkdir(parents=True, exist_ok=True)
            check_file(path)
            fixed = read_only or (path.is_file() and not os.access(path.parent, os.W_OK))
            self._connection = (
                open_read_only(path)
                if fixed
                else sqlite3.connect(path, timeout=WAIT_SECONDS, isolation_level=None)
            )
            self._deadline = Deadline(self._connection)
            check_version(self._connection)
            self._demand_ours()
            if fixed:
                return
            self._connection.execute("PRAGMA journal_mode=WAL")
            self._connection.execute("PRAGMA synchronous=FULL")
            self._connection.execute("PRAGMA foreign_keys=ON")
            self._connection.executescript(SCHEMA + CHOICES)
            self.tables |= set(COLUMNS)
            self._connection.execute(f"PRAGMA user_version={VERSION}")

    def _demand_ours(self) -> None:
        """Check that the file has no tables yet, or those of this package."""
        found = ordinary_tables(self._connection)
        self.tables = set(found)
        foreign = [t for t, columns in found.items() if not columns >= COLUMNS.get(t, {""})]
        if foreign:
            raise DatabaseError(
                f"[database] {self._path} has foreign tables ({', '.join(foreign)}), and is not "
                "modified: name another file with --database"
            )

    @contextlib.contextmanager
    def _naming_the_file(self) -> Iterator[None]:
        """Convert errors of SQLite to errors with the file and a remedy."""
        deadline = (
            contextlib.nullcontext() if self._deadline is None else self._deadline.statement()
        )
        try:
            with deadline:
                yield
        except (sqlite3.Error, OSError, ForeignDatabaseError) as error:
            # Messages of SQLite may quote the file.
            text = printable(str(error), LONGEST_PROBLEM)
            way_out, kind = "name another file with --database", DatabaseError
            if "locked" in text:
                kind = UnavailableDatabaseError
                way_out = f"another process held it for {WAIT_SECONDS:g} s: wait until it is done"
            elif "not a database" in text or "malformed" in text:
                way_out = "it is damaged or no database of trials: move it, or name another file"
            raise kind(f"[database] {self._path}: {text}; {way_out}") from error

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[Sequence[Any]]:
        """Return the rows that a statement selects."""
        with self._naming_the_file():
            return self._connection.execute(statement, values).fetchall()

    def write(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        """Execute a statement once for each row of values."""
        with self._naming_the_file():
            self._connection.executemany(statement, rows)

    def replace(self, table: str, values: Mapping[str, Any]) -> None:
        """Store a row durably, replacing the one with the same key."""
        names, marks, given = ", ".join(values), ", ".join("?" * len(values)), [*values.values()]
        if table == "trials":
            # The rowid of a replaced row changes, so the order needs a column.
            names, marks = (
                f"{names}, number",
                f"{marks}, (SELECT COUNT(*) FROM trials WHERE study = ?)",
            )
            given.append(values["study"])
        self.write(f"INSERT OR REPLACE INTO {table} ({names}) VALUES ({marks})", [given])

    def repair(self, key: str, identity: str) -> None:
        """Store a study if there is none with this key, or restore its identity."""
        self.write(
            "INSERT INTO studies (key, identity) VALUES (?, ?) ON CONFLICT (key) DO UPDATE"
            " SET identity = excluded.identity WHERE identity IS NOT excluded.identity",
            [(key, identity)],
        )

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Apply the changes of the block as one, or discard all."""
        with self._naming_the_file():
            self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        with self._naming_the_file():
            self._connection.execute("COMMIT")

    def close(self) -> None:
        """Close the file."""
        self._connection.close()
