"""PostgreSQL, for runs on several machines; needs the package psycopg.

Every statement outside a transaction can be repeated without a further effect, so that it is sent
again after a lost connection, although the server may have executed it.
"""

from __future__ import annotations

import contextlib
import logging
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from diopi_proto.text import printable

from ..errors import DatabaseError, UnavailableDatabaseError
from ..location import Address
from .engine import LONGEST_PROBLEM, WAIT_SECONDS
from .schema import KEYS, SERVER_SCHEMA, SERVER_VERSION

_log = logging.getLogger("dl_autotune")
_CONNECT_SECONDS, _LONGEST_PAUSE = 10, 2.0
_LOCK = 0x646C5F7475  # "dl_tu"
"""Advisory lock of those who create the tables or merge."""
_SETTINGS = f"""
SET search_path TO dl_tuning; SET synchronous_commit TO on;
SET lock_timeout TO '{WAIT_SECONDS:g}s'; SET statement_timeout TO '60s'
"""
_NAMES = {"studies": "studies", "trials": "trials", "claims": "verdicts", "choices": "selections"}


class PostgresqlEngine:
    """A database of a server: the tables are in its schema ``dl_tuning``.

    :param read_only: change and create nothing.
    :param patience: seconds during which a lost connection is opened again.
    :raises DatabaseError: the driver is missing, the server cannot be reached or refuses the user,
        or the tables are of another version.
    """

    def __init__(self, address: Address, *, read_only: bool = False, patience: float) -> None:
        try:
            import psycopg
        except ImportError as error:
            raise DatabaseError(
                f"[database] {address}: needs the package psycopg:"
                " pip install 'dl-autotune[postgresql]'"
            ) from error
        self._driver: Any = psycopg
        self._address, self._read_only, self._patience = address, read_only, patience
        self._password = self._find_password()
        self._inside = False
        self._stored: dict[str, int] = {}
        self._connection = self._connect()
        self.tables: set[str] = set()
        if self._version() is None:
            if read_only:
                return
            self._create()
        if (version := self._version()) != SERVER_VERSION:
            raise DatabaseError(
                f"[database] {address}: its tables are of version {version}, and this release reads"
                f" version {SERVER_VERSION}: install the release of dl-autotune that wrote them, or"
                " name another database with --database"
            )
        self.tables |= {"studies", *KEYS}

    def _find_password(self) -> str:
        """Return the password of the address, or "". Check the address.

        :raises DatabaseError: it is not valid; the message of the driver could quote the password.
        """
        found: dict[str, Any] | None = None
        if self._address.valid:
            with contextlib.suppress(self._driver.Error):
                found = self._driver.conninfo.conninfo_to_dict(self._address.secret)
        if found is None:
            raise DatabaseError(
                f"[database] {self._address}: the address is not valid: expected"
                " postgresql://user@host:port/name; write other characters than letters, digits"
                " and -._~ of a user or password as %XX, or put the password into ~/.pgpass"
            )
        return str(found.get("password") or "")

    def _connect(self) -> Any:
        try:
            connection = self._driver.connect(
                self._address.secret,
                autocommit=True,
                prepare_threshold=None,
                connect_timeout=_CONNECT_SECONDS,
                client_encoding="utf8",
                application_name="dl-autotune",
                tcp_user_timeout=1000 * _CONNECT_SECONDS,
            )
        except self._driver.Error as error:
            raise self._refused(error) from None
        try:
            connection.execute(_SETTINGS)
            if self._read_only:
                connection.execute("SET default_transaction_read_only TO on")
        except self._driver.Error as error:
            connection.close()
            raise self._refused(error) from None
        return connection

    def _refused(self, error: Exception) -> DatabaseError:
        """Return the error of a connection that was not opened."""
        said = self._text(error)
        kind: type[DatabaseError] = DatabaseError
        if re.search(r"authentication failed|password|pg_hba|role .* does not exist", said):
            remedy = "the server refused the user: check the user and the password (~/.pgpass)"
        elif re.search("database .* does not exist", said):
            remedy = "create the database with createdb, or name another one"
        else:
            kind = UnavailableDatabaseError
            remedy = "the server is not reachable: start it, or check host and port"
        return kind(f"[database] {self._address}: {said}; {remedy}")

    def _text(self, error: Exception) -> str:
        """Return the message of the driver without line breaks and without the password."""
        said = " ".join(str(error).split())
        if self._password:
            said = said.replace(self._password, "***")
        return printable(said, LONGEST_PROBLEM)

    def _version(self) -> int | None:
        """Return the version of the tables; None if there are none."""
        # Unlike to_regclass, this sees what another process has created while this one waited.
        tables = "SELECT 1 FROM pg_catalog.pg_tables WHERE schemaname = ? AND tablename = ?"
        if not self.rows(tables, ("dl_tuning", "version")):
            return None
        return int(self.rows("SELECT coalesce(max(version), 0) FROM dl_tuning.version")[0][0])

    def _create(self) -> None:
        with self.transaction():
            # Another process may have created them in the meantime.
            if self._version() is None:
                self._run([(SERVER_SCHEMA, ())])

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[Sequence[Any]]:
        """Return the rows that a statement selects."""
        return self._run([(statement, values)])

    def write(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        """Execute a statement once for each row of values."""
        self._run([(statement, row) for row in rows])

    def replace(self, table: str, values: Mapping[str, Any]) -> None:
        """Store a row durably, replacing the one with the same key."""
        unchanged = {"study", *(KEYS[table].names)}
        changed = [*(name for name in values if name not in unchanged), *KEYS[table].assigned]
        self.write(
            f"INSERT INTO {table} ({', '.join(values)}) VALUES ({', '.join('?' * len(values))})"
            f" ON CONFLICT ({KEYS[table].server}) DO UPDATE SET"
            f" {', '.join(f'{name} = excluded.{name}' for name in changed)}",
            [[*values.values()]],
        )
        self._stored[table] = self._stored.get(table, 0) + 1

    def repair(self, key: str, identity: str) -> None:
        """Store a study if there is none with this key, or restore its identity."""
        self.write(
            "INSERT INTO studies (key, identity) VALUES (?, ?) ON CONFLICT (key) DO UPDATE"
            " SET identity = excluded.identity"
            " WHERE studies.identity IS DISTINCT FROM excluded.identity",
            [(key, identity)],
        )

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Apply the changes of the block as one, or discard all."""
        self._run([("BEGIN", ())])
        self._inside, stored = True, dict(self._stored)
        try:
            self._run([("SELECT pg_advisory_xact_lock(?)", (_LOCK,))])
            yield
            self._run([("COMMIT", ())])
        except BaseException:
            self._stored = stored
            with contextlib.suppress(self._driver.Error):
                self._connection.execute("ROLLBACK")
            raise
        finally:
            self._inside = False

    def _run(self, statements: Sequence[tuple[str, Sequence[Any]]]) -> list[Sequence[Any]]:
        """Execute statements and return the rows of the last; repeat them after a lost connection.

        :raises DatabaseError: the server refuses one, or is away for longer than the patience.
        """
        deadline: float | None = None
        while True:
            try:
                return self._execute(statements)
            except self._driver.Error as error:
                if not self._connection.closed:
                    raise self._failed(error) from None
                if deadline is None:
                    deadline = time.monotonic() + self._patience
                self._reconnect(deadline, self._text(error))

    def _execute(self, statements: Sequence[tuple[str, Sequence[Any]]]) -> list[Sequence[Any]]:
        found: list[Sequence[Any]] = []
        for statement, values in statements:
            given = [_storable(value) for value in values]
            # Without values, the driver looks for no placeholders.
            cursor = self._connection.execute(statement.replace("?", "%s"), given or None)
            found = cursor.fetchall() if cursor.description else []
        return found

    def _failed(self, error: Exception) -> DatabaseError:
        """Return the error of a statement that the server refused."""
        said, errors = self._text(error), self._driver.errors
        if isinstance(error, errors.LockNotAvailable | errors.QueryCanceled):
            return UnavailableDatabaseError(
                f"[database] {self._address}: {said}; another process holds it: wait until it is"
                " done"
            )
        remedy = "name another database with --database"
        if isinstance(error, errors.InsufficientPrivilege | errors.ReadOnlySqlTransaction):
            remedy = "ask its owner for the right to create the schema dl_tuning and to write to it"
        return DatabaseError(f"[database] {self._address}: {said}; {remedy}")

    def _reconnect(self, deadline: float, why: str) -> None:
        if self._inside:
            raise UnavailableDatabaseError(
                f"[database] {self._address}: the connection was lost in a transaction ({why});"
                f" {self._format_stored()}, and the transaction as a whole or not at all: run the"
                " command again"
            )
        _log.warning(
            "%s: the connection was lost (%s); it is tried again for %g s",
            *(self._address, why, self._patience),
        )
        pause = 0.1
        while True:
            try:
                self._connection = self._connect()
            except UnavailableDatabaseError as error:
                if time.monotonic() + pause >= deadline:
                    raise UnavailableDatabaseError(
                        f"[database] {self._address}: the connection was lost ({why}), and the"
                        f" server did not return within {self._patience:g} s;"
                        f" {self._format_stored()}: start the server, and run the command again to"
                        " continue"
                    ) from error
            else:
                return
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    def _format_stored(self) -> str:
        """Describe the rows that the server has stored durably for this object."""
        counts = [f"{name}: {self._stored[t]}" for t, name in _NAMES.items() if t in self._stored]
        return f"what it confirmed is kept ({', '.join(counts) or 'nothing was stored yet'})"

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def __del__(self) -> None:
        # SQLite closes an unused connection by itself; psycopg warns first.
        if connection := getattr(self, "_connection", None):
            connection.close()


def _storable(value: Any) -> Any:
    """Replace characters that PostgreSQL's text does not have, such as in a compiler's output."""
    if not isinstance(value, str):
        return value
    return value.encode("utf-8", "backslashreplace").decode().replace("\0", "\\x00")
