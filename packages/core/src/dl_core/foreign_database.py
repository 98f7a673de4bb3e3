"""Safe reading of SQLite databases of tuning results, which others may have damaged or forged.

SQLite executes what a database contains: a view in place of a table may compute forever, and a
generated column may build values of gigabytes. So only ordinary tables are read, each statement
has a deadline, and values have a bounded length (https://www.sqlite.org/security.html).
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
"""``user_version`` of the schema that this release reads; a wheel's file of choices has 0."""
SECONDS = 10.0
"""Deadline of one statement."""
LONGEST_VALUE = 1 << 28
"""Bytes of one value; where Python is older than 3.11, SQLite's own bound of 10^9 holds."""
_INSTRUCTIONS = 20_000
"""Instructions of SQLite's machine between two looks at the clock."""
_MOST_TABLES = 100
_COMPANIONS = ("", "-wal", "-shm", "-journal")
"""SQLite reads these files next to a database."""


class ForeignDatabaseError(Exception):
    """A database that is not read; the message continues a sentence about the file."""


def check_file(path: Path) -> None:
    """Check the files of a database before SQLite opens them.

    :raises ForeignDatabaseError: one is not a regular file, or others can write to it or make it.
    :raises OSError: it cannot be examined.
    """
    for suffix in _COMPANIONS:
        file = Path(f"{path.resolve()}{suffix}")
        # SQLite cannot open a folder, and says so or does without.
        if not os.path.lexists(file) or (suffix and file.is_dir()):
            continue
        check_regular(file)
        if reason := why_untrusted(file):
            raise ForeignDatabaseError(
                f"others could have changed it: {reason}; take away their permission to write"
            )


class Deadline:
    """Ends the statements of a connection that take too long; also bounds the length of values."""

    def __init__(self, connection: sqlite3.Connection, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self._end = time.monotonic() + seconds
        connection.set_progress_handler(self._is_over, _INSTRUCTIONS)
        # Text that is not UTF-8 is shown as such and matches nothing.
        connection.text_factory = lambda content: content.decode("utf-8", "replace")
        if hasattr(connection, "setlimit"):
            connection.setlimit(0, LONGEST_VALUE)  # SQLITE_LIMIT_LENGTH

    def _is_over(self) -> bool:
        return time.monotonic() > self._end

    @contextmanager
    def statement(self) -> Iterator[None]:
        """Give what is executed in the block the whole time.

        :raises ForeignDatabaseError: it was ended.
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
    """Open a database for reading, also where nothing can be written.

    :raises sqlite3.Error: it cannot be read.
    :raises OSError: or is not a regular file.
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
        # To read a database with a log, SQLite makes files next to it, which is impossible on a
        # read-only medium. No process writes to the database there.
        connection = sqlite3.connect(f"{uri}&immutable=1", uri=True)
    return connection


def check_version(connection: sqlite3.Connection) -> None:
    """Check that this release knows the schema.

    :raises ForeignDatabaseError: it is of a newer one.
    """
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > VERSION:
        raise ForeignDatabaseError(
            f"it is of version {version}, and this release reads up to {VERSION}: install a newer "
            "one"
        )


def ordinary_tables(connection: sqlite3.Connection) -> Mapping[str, frozenset[str]]:
    """Return the columns of each table.

    :raises ForeignDatabaseError: there is something else: a view, a trigger, an index, a virtual
        table or a generated column. None of them is read before that.
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
