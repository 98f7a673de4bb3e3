"""Every trial with its raw times, in SQLite with a write-ahead log: what is done is never lost."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dl_core.tuned_choices import SCHEMA as CHOICES
from dl_core.tuned_choices import read_only

from ..errors import DatabaseError
from ..spaces import Config

VERSION = 1
_WAIT_SECONDS = 10.0
_SCHEMA = """
CREATE TABLE IF NOT EXISTS studies (
  id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, identity TEXT NOT NULL,
  created TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE TABLE IF NOT EXISTS trials (
  study INTEGER NOT NULL REFERENCES studies(id) ON DELETE CASCADE, number INTEGER NOT NULL,
  config TEXT NOT NULL, invalidity TEXT NOT NULL, message TEXT NOT NULL,
  ratio REAL, low REAL, high REAL, baseline TEXT NOT NULL, candidate TEXT NOT NULL,
  finished TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP, PRIMARY KEY (study, config)
);
CREATE TABLE IF NOT EXISTS claims (
  study INTEGER PRIMARY KEY REFERENCES studies(id) ON DELETE CASCADE, config TEXT NOT NULL,
  verdict TEXT NOT NULL, ratio REAL NOT NULL, low REAL NOT NULL, high REAL NOT NULL,
  noise REAL NOT NULL, races TEXT NOT NULL, finished TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
);
"""


_COLUMNS = {
    "studies": {"id", "key", "identity"},
    "trials": {"study", "number", "config", "invalidity"},
    "claims": {"study", "config", "verdict"},
    "choices": {"identity", "key", "choice"},
}
"""By which a table is known as one of these."""


@dataclass(frozen=True)
class StoredTrial:
    """One evaluation.

    :ivar invalidity: "correct", or why it was not timed, as in T4.
    :ivar ratio: of times, baseline by candidate, with its interval; None where it was not timed.
    :ivar baseline: seconds of the baseline's runs beside it.
    :ivar candidate: seconds of its own runs.
    """

    config: Config
    invalidity: str
    message: str = ""
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    baseline: tuple[float, ...] = ()
    candidate: tuple[float, ...] = ()


@dataclass(frozen=True)
class StoredClaim:
    """What was claimed at the end of a study; `races` has the ratios of blocks, race by race."""

    config: Config
    verdict: str
    ratio: float
    low: float
    high: float
    noise: float
    races: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class StoredChoice:
    """The implementation that was faster than a vendor's usual one for a call.

    :ivar identity: of vendor, libraries and device, as the vendor tells it.
    :ivar key: of the call, as the vendor tells it.
    :ivar operator: what was called, for people.
    :ivar ratio: of times, the usual choice by this one, with its interval.
    """

    identity: str
    key: str
    choice: str
    operator: str
    ratio: float
    low: float
    high: float


@dataclass(frozen=True)
class Study:
    """Trials that may be compared: of one kernel, shape, device and compiler."""

    id: int
    key: str
    identity: Mapping[str, Any]
    created: str


class Database:
    """The file of all studies of a person. One that cannot be written is read.

    :raises DatabaseError: the file is no database, is of a newer version, or cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with self._told():
            path.parent.mkdir(parents=True, exist_ok=True)
            fixed = path.is_file() and not os.access(path.parent, os.W_OK)
            self._connection = (
                read_only(path)
                if fixed
                else sqlite3.connect(path, timeout=_WAIT_SECONDS, isolation_level=None)
            )
            (version,) = self._connection.execute("PRAGMA user_version").fetchone()
            if version > VERSION:
                raise DatabaseError(
                    f"[database] {path} is of version {version}, and this dl-autotune reads up to"
                    f" {VERSION}: install a newer one, or name another file"
                )
            self._demand_ours()
            if fixed:
                return
            self._connection.execute("PRAGMA journal_mode=WAL")
            self._connection.execute("PRAGMA synchronous=FULL")
            self._connection.execute("PRAGMA foreign_keys=ON")
            self._connection.executescript(_SCHEMA + CHOICES)
            self._connection.execute(f"PRAGMA user_version={VERSION}")

    def _demand_ours(self) -> None:
        """Whether the file has no tables yet, or those of this package: others are not touched."""
        found: dict[str, set[str]] = {}
        for table, column in self._connection.execute(
            "SELECT m.name, c.name FROM sqlite_master AS m, pragma_table_info(m.name) AS c"
            " WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite|_%' ESCAPE '|'"
        ):
            found.setdefault(table, set()).add(column)
        foreign = [t for t, columns in found.items() if not columns >= _COLUMNS.get(t, {""})]
        if foreign:
            raise DatabaseError(
                f"[database] {self.path} has tables of something else ({', '.join(foreign)}), and"
                " is left as it is: name another file with --database"
            )

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        """Say of what goes wrong which file it is and what can be done."""
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            text = str(error)
            way_out = "name another file with --database"
            if "locked" in text:
                way_out = f"another process kept it for {_WAIT_SECONDS:g} s: wait until it is done"
            elif "not a database" in text or "malformed" in text:
                way_out = "it is damaged or something else: move it away, or name another file"
            raise DatabaseError(f"[database] {self.path}: {text}; {way_out}") from error

    def study(self, identity: Mapping[str, Any]) -> Study:
        """The study of an identity, made where there is none."""
        text = json.dumps(identity, sort_keys=True)
        key = hashlib.sha256(text.encode()).hexdigest()[:12]
        with self._told():
            self._connection.execute(
                "INSERT OR IGNORE INTO studies (key, identity) VALUES (?, ?)", (key, text)
            )
        return next(study for study in self.studies() if study.key == key)

    def studies(self) -> list[Study]:
        """All studies, the oldest first."""
        with self._told():
            rows = self._connection.execute(
                "SELECT id, key, identity, created FROM studies ORDER BY id"
            ).fetchall()
        return [Study(i, key, json.loads(text), created) for i, key, text, created in rows]

    def record(self, study: Study, trial: StoredTrial) -> None:
        """Keep a trial; it is on the disk when this returns."""
        with self._told():
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
        """The trials of a study, in the order they were made."""
        with self._told():
            rows = self._connection.execute(
                "SELECT config, invalidity, message, ratio, low, high, baseline, candidate"
                " FROM trials WHERE study = ? ORDER BY number",
                (study.id,),
            ).fetchall()
        return [
            StoredTrial(json.loads(c), i, m, r, lo, hi, tuple(json.loads(b)), tuple(json.loads(t)))
            for c, i, m, r, lo, hi, b, t in rows
        ]

    def claim(self, study: Study, made: StoredClaim) -> None:
        """Keep what is claimed of a study, in place of what was."""
        with self._told():
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
        """What is claimed of a study."""
        with self._told():
            row = self._connection.execute(
                "SELECT config, verdict, ratio, low, high, noise, races FROM claims"
                " WHERE study = ?",
                (study.id,),
            ).fetchone()
        if row is None:
            return None
        config, verdict, ratio, low, high, noise, races = row
        blocks = tuple(tuple(each) for each in json.loads(races))
        return StoredClaim(json.loads(config), verdict, ratio, low, high, noise, blocks)

    def choose(self, made: StoredChoice) -> None:
        """Keep a choice, in place of the one that its key had."""
        with self._told():
            self._connection.execute(
                "INSERT OR REPLACE INTO choices (identity, key, choice, operator, ratio, low, high)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                dataclasses.astuple(made),
            )

    def unchoose(self, identity: str, keys: Iterable[str]) -> None:
        """Drop what was chosen for keys: the vendor's usual choice is as good."""
        with self._told():
            self._connection.executemany(
                "DELETE FROM choices WHERE identity = ? AND key = ?",
                [(identity, key) for key in keys],
            )

    def choices(self) -> list[StoredChoice]:
        """All that was chosen, the oldest first."""
        with self._told():
            rows = self._connection.execute(
                "SELECT identity, key, choice, operator, ratio, low, high FROM choices"
                " ORDER BY finished, key"
            ).fetchall()
        return [StoredChoice(*row) for row in rows]

    def forget(self, study: Study) -> None:
        """Drop a study with all that belongs to it, what it chose among it."""
        with self._told():
            self._connection.execute(
                "DELETE FROM choices WHERE identity = ? AND operator = ?",
                (study.identity.get("device"), study.identity.get("function")),
            )
            self._connection.execute("DELETE FROM studies WHERE id = ?", (study.id,))

    def close(self) -> None:
        """Close the file."""
        self._connection.close()
