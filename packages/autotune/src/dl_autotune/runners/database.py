"""Database of trials with their raw times, in a file or on a server."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, TypeVar

from diopi_proto.text import printable

from ..errors import DatabaseError
from ..location import Address, Location
from .engine import LONGEST_PROBLEM, Engine
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
_PATIENCE_SECONDS = 60.0


class Database:
    """Database of studies: an SQLite file, or a database of a PostgreSQL server.

    Damaged rows are skipped with a warning.

    :param read_only: change and create nothing.
    :param patience: seconds to wait for a server whose connection was lost (default: 60).
    :raises DatabaseError: the database cannot be used; see the engines.
    """

    def __init__(
        self, path: Location, *, read_only: bool = False, patience: float = _PATIENCE_SECONDS
    ) -> None:
        self.path = path
        self._warned: set[str] = set()
        self._engine: Engine
        if isinstance(path, Address):
            from .postgresql import PostgresqlEngine

            self._engine = PostgresqlEngine(path, read_only=read_only, patience=patience)
        else:
            from .sqlite import SqliteEngine

            self._engine = SqliteEngine(path, read_only=read_only)

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
            _log.warning("%s: %s", self.path, printable(said, LONGEST_PROBLEM))

    def study(self, identity: Mapping[str, Any]) -> Study:
        """Return the study of an identity; create it if it does not exist."""
        text = json.dumps(identity, sort_keys=True)
        key = hashlib.sha256(text.encode()).hexdigest()[:12]
        # The key belongs to this text alone, so that a damaged one is repaired.
        self._engine.repair(key, text)
        (row,) = self._engine.rows(
            "SELECT id, key, identity, created FROM studies WHERE key = ?", (key,)
        )
        try:
            return study_of(row)
        except DamagedRowError as error:
            raise DatabaseError(
                f"[database] {self.path}: study {key} is damaged: {error}; name another file with"
                " --database"
            ) from error

    def studies(self) -> list[Study]:
        """Return all studies, the oldest first."""
        if "studies" not in self._engine.tables:
            return []
        rows = self._engine.rows("SELECT id, key, identity, created FROM studies ORDER BY id")
        return self._whole("study", study_of, rows)

    def record(self, study: Study, trial: StoredTrial) -> None:
        """Store a trial durably."""
        values = dataclasses.asdict(trial)
        values |= {name: json.dumps(values[name]) for name in ("config", "baseline", "candidate")}
        self._engine.replace("trials", {"study": study.id, **values})

    def trials(self, study: Study) -> list[StoredTrial]:
        """Return the trials of a study in chronological order."""
        rows = self._engine.rows(
            "SELECT config, invalidity, message, ratio, low, high, baseline, candidate"
            " FROM trials WHERE study = ? ORDER BY number",
            (study.id,),
        )
        found, others = alike(self._whole(f"in study {study.key}, trial", trial_of, rows))
        if others:
            self._warn(f"in study {study.key}, {others} trials of other parameters are left out")
        return found

    def claim(self, study: Study, made: StoredClaim) -> None:
        """Store the claim of a study, replacing an earlier one."""
        values = dataclasses.asdict(made)
        values |= {name: json.dumps(values[name]) for name in ("config", "races")}
        self._engine.replace("claims", {"study": study.id, **values})

    def claimed(self, study: Study) -> StoredClaim | None:
        """Return the claim of a study."""
        rows = self._engine.rows(
            "SELECT config, verdict, ratio, low, high, noise, races FROM claims WHERE study = ?",
            (study.id,),
        )
        return next(iter(self._whole(f"in study {study.key}, claim", claim_of, rows)), None)

    def record_transfer(self, study: Study, made: StoredTransfer) -> None:
        """Store what a study took from an earlier one."""
        values = dataclasses.asdict(made)
        values["identity"] = json.dumps(made.identity, sort_keys=True)
        values["configs"] = json.dumps(made.configs)
        self._engine.replace("transfers", {"study": study.id, **values})

    def transfers(self, study: Study) -> list[StoredTransfer]:
        """Return what a study took from earlier ones."""
        if "transfers" not in self._engine.tables:
            return []
        rows = self._engine.rows(
            "SELECT source, layer, identity, configs, trials, outside FROM transfers"
            " WHERE study = ? ORDER BY rowid",
            (study.id,),
        )
        return self._whole(f"in study {study.key}, transfer", transfer_of, rows)

    def choose(self, made: StoredChoice) -> None:
        """Store a choice, replacing an earlier one of its key."""
        self._engine.replace("choices", dataclasses.asdict(made))

    def unchoose(self, identity: str, keys: Iterable[str]) -> None:
        """Delete the choices of keys whose default is as fast."""
        self._engine.write(
            "DELETE FROM choices WHERE identity = ? AND key = ?", [(identity, key) for key in keys]
        )

    def choices(self) -> list[StoredChoice]:
        """Return all choices, the oldest first."""
        if "choices" not in self._engine.tables:
            return []
        rows = self._engine.rows(
            "SELECT identity, key, choice, operator, ratio, low, high FROM choices"
            " ORDER BY finished, key"
        )
        return self._whole("choice", choice_of, rows)

    def forget(self, study: Study) -> None:
        """Delete a study with its trials, claim and choices."""
        self._engine.write(
            "DELETE FROM choices WHERE identity = ? AND operator = ?",
            [(study.identity.get("device"), study.identity.get("function"))],
        )
        self._engine.write("DELETE FROM studies WHERE id = ?", [(study.id,)])

    def transaction(self) -> AbstractContextManager[None]:
        """Apply the changes of the block as one, or discard all."""
        return self._engine.transaction()

    def close(self) -> None:
        """Close the database."""
        self._engine.close()
