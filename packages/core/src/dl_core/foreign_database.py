"""Safe reading of SQLite databases of tuning results, which may be damaged or malicious.

SQLite executes parts of a database: a view that has the name of a table may run forever, and a
generated column may create values of gigabytes. Therefore only ordinary tables are read, each
statement has a deadline, and the length of values is limited
(https://www.sqlite.org/security.html).
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from diopi_proto.foreign_file import check_regular
from diopi_proto.trust import why_untrusted

if TYPE_CHECKING:
    import sqlite3

VERSION = 1
"""``user_version`` of the schema that this release reads; the file of choices in a wheel has 0."""
SECONDS = 10.0
"""Timeout of one statement in seconds."""
LONGEST_VALUE = 1 << 28
"""Maximum bytes of one value; before Python 3.11, SQLite's own limit of 10^9 applies."""
_INSTRUCTIONS = 20_000
"""Number of SQLite VM instructions between two checks of the deadline."""
_MOST_TABLES = 100
_COMPANIONS = ("", "-wal", "-shm", "-journal")
"""Suffixes of the files that SQLite reads together with a database."""


class ForeignDatabaseError(Exception):
    """A database is rejected; the message continues a sentence about the file."""


def check_file(path: Path) -> None:
    """Check the files of a database before SQLite opens them.

    :raises ForeignDatabaseError: a file is not regular, or other users can write or create it.
    """
    for suffix in _COMPANIONS:
        file = Path(f"{path.resolve()}{suffix}")
        # SQLite cannot open a folder, and reports that itself.
        if not os.path.lexists(file) or (suffix and file.is_dir()):
            continue
        check_regular(file)
        if reason := why_untrusted(file):
            raise ForeignDatabaseError(
                f"other users could have changed it: {reason}; remove their write permission"
            )


class Deadline:
    """Deadline for the statements of a connection, and a limit on the length of values."""

    def __init__(self, connection: sqlite3.Connection, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self._end = time.monotonic() + seconds
        connection.set_progress_handler(self._is_over, _INSTRUCTIONS)
        # Invalid UTF-8 is decoded with replacement characters and matches nothing.
        connection.text_factory = lambda content: content.decode("utf-8", "replace")
        if hasattr(connection, "setlimit"):
            connection.setlimit(0, LONGEST_VALUE)  # SQLITE_LIMIT_LENGTH

    def _is_over(self) -> bool:
        return time.monotonic() > self._end

    @contextmanager
    def statement(self) -> Iterator[None]:
        """Restart the deadline for the statements of the block.

        :raises ForeignDatabaseError: the deadline has expired.
        """
        import sqlite3

        self._end = time.monotonic() + self._seconds
        try:
            yield
        except sqlite3.OperationalError as error:
            if str(error) == "interrupted":
                raise ForeignDatabaseError(
                    f"a statement takes more than {self._seconds:g} s"
                ) from error
            raise


def open_read_only(path: Path) -> sqlite3.Connection:
    """Open a database for reading, even on a read-only medium.

    :raises sqlite3.Error: it cannot be read.
    :raises OSError: it is not a regular file.
    """
    import sqlite3

    check_regular(path)
    uri = f"{path.resolve().as_uri()}?mode=ro"
    connection = sqlite3.connect(uri, uri=True)
    try:
        connection.execute("SELECT count(*) FROM sqlite_master")
    except sqlite3.OperationalError:
        connection.close()
        if os.access(path.parent, os.W_OK):
            raise
        # For a database with a log, SQLite creates files next to it, which is impossible on a
        # read-only medium. But there, no process writes to the database.
        connection = sqlite3.connect(f"{uri}&immutable=1", uri=True)
    return connection


def check_version(connection: sqlite3.Connection) -> None:
    """Check that this release supports the schema.

    :raises ForeignDatabaseError: the schema is newer.
    """
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > VERSION:
        raise ForeignDatabaseError(
            f"it is of version {version}, and this release reads up to {VERSION}: install a newer "
            "one"
        )


def ordinary_tables(connection: sqlite3.Connection) -> Mapping[str, frozenset[str]]:
    """Return the columns of each table.

    :raises ForeignDatabaseError: the database has a view, trigger, index, virtual table or
        generated column. None of them is executed before this check.
    """
    entries = connection.execute(
        "SELECT type, name, substr(sql, 1, 30) FROM sqlite_master"
        " WHERE name NOT LIKE 'sqlite|_%' ESCAPE '|' LIMIT ?",
        (_MOST_TABLES + 1,),
    ).fetchall()
    if len(entries) > _MOST_TABLES:
        raise ForeignDatabaseError(f"it has more than {_MOST_TABLES} tables")
    found = {}
    for kind, name, sql in entries:
        if kind != "table":
            raise ForeignDatabaseError(f"it has the {kind} {name!r:.100}, and only tables are read")
        if str(sql).upper().startswith("CREATE VIRTUAL"):
            raise ForeignDatabaseError(f"its table {name!r:.100} is virtual")
        columns = connection.execute(
            "SELECT name, hidden FROM pragma_table_xinfo(?)", (name,)
        ).fetchall()
        if any(hidden for _, hidden in columns):
            raise ForeignDatabaseError(f"its table {name!r:.100} has a generated column")
        found[name] = frozenset(column for column, _ in columns)
    return found
