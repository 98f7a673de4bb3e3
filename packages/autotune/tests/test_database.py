"""The database: stored rows, and messages about unusable files."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from dl_autotune import DatabaseError
from dl_autotune.runners.database import Database, StoredClaim, StoredTrial

IDENTITY = {"kernel": "gemm.cpp", "shape": {"m": 3}, "source": "abc"}
TRIAL = StoredTrial({"tile": 8}, "correct", "", 1.2, 1.1, 1.3, (1e-3, 2e-3), (0.5e-3,))
FAILED = StoredTrial({"tile": 16}, "compile", "error: no")
CLAIM = StoredClaim({"tile": 8}, "faster", 1.2, 1.1, 1.3, 0.01, ((1.1, 1.2), (1.3,)))


def test_trials_and_claims_are_kept_with_their_raw_times(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "trials.sqlite"
    first = Database(path)
    study = first.study(IDENTITY)
    first.record(study, FAILED)
    first.record(study, TRIAL)
    first.claim(study, CLAIM)
    # Another connection reads rows that the first one has not closed.
    second = Database(path)
    assert second.study(IDENTITY) == study
    assert second.trials(study) == [FAILED, TRIAL]
    assert second.claimed(study) == CLAIM
    other = second.study({**IDENTITY, "source": "abd"})
    assert (other.key == study.key, second.trials(other), second.claimed(other)) == (
        False,
        [],
        None,
    )
    second.forget(study)
    assert first.studies() == [other]
    assert first.trials(study) == []
    first.close()
    second.close()


def test_a_file_that_is_not_a_database_is_named(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_text("hello, this is not what you want\n" * 100)
    with pytest.raises(DatabaseError, match=r"text: file is not a database; it is damaged"):
        Database(path)
    with pytest.raises(DatabaseError, match="name another file with --database"):
        Database(tmp_path / "text" / "below.sqlite")


def test_a_newer_version_is_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "new.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version=99")
    connection.close()
    with pytest.raises(DatabaseError, match=r"of version 99.*install a newer one"):
        Database(path)


def test_a_locked_database_is_an_error_after_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dl_autotune.runners.sqlite.WAIT_SECONDS", 0.05)
    database = Database(tmp_path / "t.sqlite")
    study = database.study(IDENTITY)
    holder = sqlite3.connect(tmp_path / "t.sqlite", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(DatabaseError, match="locked; another process held it"):
        database.record(study, TRIAL)
    holder.execute("ROLLBACK")
    holder.close()
    database.record(study, TRIAL)
    assert database.trials(study) == [TRIAL]
    database.close()


@pytest.mark.parametrize("version", [0, 1])
@pytest.mark.parametrize(
    ("table", "said"),
    [("notes (text TEXT)", "notes"), ("studies (patient TEXT)", "studies")],
)
def test_a_database_of_another_program_is_not_touched(
    tmp_path: Path, version: int, table: str, said: str
) -> None:
    path = tmp_path / "notes.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute(f"CREATE TABLE {table}")
        connection.execute(f"PRAGMA user_version={version}")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(DatabaseError, match=rf"foreign tables \({said}\), and is not modified"):
        Database(path)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["notes.sqlite"]


def test_a_database_that_was_not_finished_is_one_of_ours(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    Database(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("DROP TABLE claims")
        connection.execute("PRAGMA user_version=0")
    connection.close()
    database = Database(path)
    assert database.studies() == []
    database.close()
