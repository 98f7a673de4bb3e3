"""Database of trials with their raw times: SQLite with a write-ahead log, so that no trial
is lost.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import logging
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

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
from .schema import COLUMNS, SCHEMA
from .stored import (
    DamagedRowError,
    StoredChoice,
    StoredClaim,
    StoredTransfer,
    StoredTrial,
    Study,
    alike,
    choice_of,
    claim_of,
    study_of,
    transfer_of,
    trial_of,
)

__all__ = ["Database", "StoredChoice", "StoredClaim", "StoredTransfer", "StoredTrial", "Study"]

_log = logging.getLogger("dl_autotune")
_Row = TypeVar("_Row")
_LONGEST_PROBLEM = 500
_WAIT_SECONDS = 10.0


class Database:
    """Database of a user's studies. A file without write permission is opened for reading.

    Damaged rows are skipped with a warning.

    :param read_only: open the file for reading, and create nothing.
    :raises DatabaseError: the file is not a database, is of a newer version, cannot be written, or
        can be written by others.
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.path = path
        self._deadline: Deadline | None = None
        self._warned: set[str] = set()
        with self._naming_the_file():
            if not read_only:
                path.parent.mkdir(parents=True, exist_ok=True)
            check_file(path)
            fixed = read_only or (path.is_file() and not os.access(path.parent, os.W_OK))
            self._connection = (
                open_read_only(path)
                if fixed
                else sqlite3.connect(path, timeout=_WAIT_SECONDS, isolation_level=None)
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
            self._tables |= set(COLUMNS)
            self._connection.execute(f"PRAGMA user_version={VERSION}")

    def _demand_ours(self) -> None:
        """Check that the file has no tables yet, or those of this package."""
        found = ordinary_tables(self._connection)
        self._tables = set(found)
        foreign = [t for t, columns in found.items() if not columns >= COLUMNS.get(t, {""})]
        if foreign:
            raise DatabaseError(
                f"[database] {self.path} has foreign tables ({', '.join(foreign)}), and is not "
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
            text = printable(str(error), _LONGEST_PROBLEM)
            way_out, kind = "name another file with --database", DatabaseError
            if "locked" in text:
                kind = UnavailableDatabaseError
                way_out = f"another process held it for {_WAIT_SECONDS:g} s: wait until it is done"
            elif "not a database" in text or "malformed" in text:
                way_out = "it is damaged or no database of trials: move it, or name another file"
            raise kind(f"[database] {self.path}: {text}; {way_out}") from error

    def _whole(
        self, what: str, make: Callable[[Sequence[Any]], _Row], rows: Iterable[Sequence[Any]]
    ) -> list[_Row]:
        """Yield the undamaged rows.

        :param what: kind of the rows, for warnings.
        """
        found = []
        for number, row in enumerate(rows, 1):
            try:
                found.append(make(row))
            except DamagedRowError as error:
                self._warn(f"{what} {number} is damaged and left out: {error}")
        return found

    def _warn(self, said: str) -> None:
        """Warn once for each damaged row."""
        if said not in self._warned:
            self._warned.add(said)
            _log.warning("%s: %s", self.path, printable(said, _LONGEST_PROBLEM))

    def study(self, identity: Mapping[str, Any]) -> Study:
        """Return the study of an identity; create it if it does not exist."""
        text = json.dumps(identity, sort_keys=True)
        key = hashlib.sha256(text.encode()).hexdigest()[:12]
        with self._naming_the_file():
            # The key belongs to this text alone, so that a damaged one is repaired.
            self._connection.execute(
                "INSERT INTO studies (key, identity) VALUES (?, ?) ON CONFLICT (key) DO UPDATE"
                " SET identity = excluded.identity WHERE identity IS NOT excluded.identity",
                (key, text),
            )
            row = self._connection.execute(
                "SELECT id, key, identity, created FROM studies WHERE key = ?", (key,)
            ).fetchone()
        try:
            return study_of(row)
        except DamagedRowError as error:
            raise DatabaseError(
                f"[database] {self.path}: study {key} is damaged: {error}; name another file with"
                " --database"
            ) from error

    def studies(self) -> list[Study]:
        """Return all studies, the oldest first."""
        if "studies" not in self._tables:
            return []
        with self._naming_the_file():
            rows = self._connection.execute(
                "SELECT id, key, identity, created FROM studies ORDER BY id"
            ).fetchall()
        return self._whole("study", study_of, rows)

    def record(self, study: Study, trial: StoredTrial) -> None:
        """Store a trial durably."""
        with self._naming_the_file():
            self._connection.execute(
                "INSERT OR REPLACE INTO trials (study, number, config, invalidity, message, ratio,"
                " low, high, baseline, candidate) VALUES (?, (SELECT COUNT(*) FROM trials WHERE"
                " study = ?), ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    study.id,
                    study.id,
                    json.dumps(trial.config),
                    trial.invalidity,
                    trial.message,
                    trial.ratio,
                    trial.low,
                    trial.high,
                    json.dumps(trial.baseline),
                    json.dumps(trial.candidate),
                ),
            )

    def trials(self, study: Study) -> list[StoredTrial]:
        """Return the trials of a study in chronological order."""
        with self._naming_the_file():
            rows = self._connection.execute(
                "SELECT config, invalidity, message, ratio, low, high, baseline, candidate"
                " FROM trials WHERE study = ? ORDER BY number",
                (study.id,),
            ).fetchall()
        found, others = alike(self._whole(f"in study {study.key}, trial", trial_of, rows))
        if others:
            self._warn(f"in study {study.key}, {others} trials of other parameters are left out")
        return found

    def claim(self, study: Study, made: StoredClaim) -> None:
        """Store the claim of a study, replacing an earlier one."""
        with self._naming_the_file():
            self._connection.execute(
                "INSERT OR REPLACE INTO claims (study, config, verdict, ratio, low, high, noise,"
                " races) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    study.id,
                    json.dumps(made.config),
                    made.verdict,
                    made.ratio,
                    made.low,
                    made.high,
                    made.noise,
                    json.dumps(made.races),
                ),
            )

    def claimed(self, study: Study) -> StoredClaim | None:
        """Return the claim of a study."""
        with self._naming_the_file():
            row = self._connection.execute(
                "SELECT config, verdict, ratio, low, high, noise, races FROM claims"
                " WHERE study = ?",
                (study.id,),
            ).fetchone()
        rows = [] if row is None else [row]
        return next(iter(self._whole(f"in study {study.key}, claim", claim_of, rows)), None)

    def record_transfer(self, study: Study, made: StoredTransfer) -> None:
        """Store what a study took from an earlier one."""
        with self._naming_the_file():
            self._connection.execute(
                "INSERT OR REPLACE INTO transfers (study, source, layer, identity, configs, trials,"
                " outside) VALUES (?, ?, ?, ?, ?, ?, ?)",
                (
                    study.id,
                    made.source,
                    made.layer,
                    json.dumps(made.identity, sort_keys=True),
                    json.dumps(made.configs),
                    made.trials,
                    made.outside,
                ),
            )

    def transfers(self, study: Study) -> list[StoredTransfer]:
        """Return what a study took from earlier ones."""
        if "transfers" not in self._tables:
            return []
        with self._naming_the_file():
            rows = self._connection.execute(
                "SELECT source, layer, identity, configs, trials, outside FROM transfers"
                " WHERE study = ? ORDER BY rowid",
                (study.id,),
            ).fetchall()
        return self._whole(f"in study {study.key}, transfer", transfer_of, rows)

    def choose(self, made: StoredChoice) -> None:
        """Store a choice, replacing an earlier one of its key."""
        with self._naming_the_file():
            self._connection.execute(
                "INSERT OR REPLACE INTO choices (identity, key, choice, operator, ratio, low, high)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                dataclasses.astuple(made),
            )

    def unchoose(self, identity: str, keys: Iterable[str]) -> None:
        """Delete the choices of keys whose default is as fast."""
        with self._naming_the_file():
            self._connection.executemany(
                "DELETE FROM choices WHERE identity = ? AND key = ?",
                [(identity, key) for key in keys],
            )

    def choices(self) -> list[StoredChoice]:
        """Return all choices, the oldest first."""
        if "choices" not in self._tables:
            return []
        with self._naming_the_file():
            rows = self._connection.execute(
                "SELECT identity, key, choice, operator, ratio, low, high FROM choices"
                " ORDER BY finished, key"
            ).fetchall()
        return self._whole("choice", choice_of, rows)

    def forget(self, study: Study) -> None:
        """Delete a study with its trials, claim and choices."""
        with self._naming_the_file():
            self._connection.execute(
                "DELETE FROM choices WHERE identity = ? AND operator = ?",
                (study.identity.get("device"), study.identity.get("function")),
            )
            self._connection.execute("DELETE FROM studies WHERE id = ?", (study.id,))

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
