"""``dl tune merge`` adds the studies of a database to another one in one transaction."""

from __future__ import annotations

import argparse
import dataclasses
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from dl_autotune import DatabaseError
from dl_autotune.command import configure, run
from dl_autotune.runners.database import Database, StoredChoice, StoredClaim, StoredTrial, Study
from dl_autotune.runners.merge import Merged, merge

IDENTITY = {"kernel": "gemm.cpp", "function": "gemm", "shape": {"m": 3}}
TRIAL = StoredTrial({"tile": 8}, "correct", "", 1.2, 1.1, 1.3, (1e-3,), (0.5e-3,))
FAILED = StoredTrial({"tile": 16}, "compile", "error: no")
CLAIM = StoredClaim({"tile": 8}, "faster", 1.2, 1.1, 1.3, 0.01, ((1.1, 1.2),))
CHOICE = StoredChoice("cpu 1", "gemm:1", "packed", "mm", 1.3, 1.2, 1.4)
OPERATOR = {"kernel": "operator", "function": "mm", "device": "cpu 1"}


def tune(*words: str) -> int:
    parser = argparse.ArgumentParser()
    configure(parser)
    return run(parser.parse_args(list(words)))


@pytest.fixture
def a(tmp_path: Path) -> Database:
    return Database(tmp_path / "a.sqlite")


@pytest.fixture
def b(tmp_path: Path) -> Database:
    return Database(tmp_path / "b.sqlite")


def store(database: Database, *trials: StoredTrial, claim: StoredClaim | None = None) -> Study:
    study = database.study(IDENTITY)
    with database.transaction():
        for trial in trials:
            database.record(study, trial)
    if claim is not None:
        database.claim(study, claim)
    return study


def test_studies_and_selections_are_added_once(a: Database, b: Database) -> None:
    store(a, TRIAL, FAILED, claim=CLAIM)
    a.choose(CHOICE)
    assert merge(a, b) == Merged(1, 2, 1, 1)
    (study,) = b.studies()
    assert b.trials(study) == [TRIAL, FAILED]
    assert b.claimed(study) == CLAIM
    assert b.choices() == [CHOICE]
    assert merge(a, b) == Merged()
    assert len(b.trials(study)) == 2


def test_trials_of_one_study_are_united_and_the_targets_stay(a: Database, b: Database) -> None:
    store(a, dataclasses.replace(TRIAL, ratio=1.9, high=2.0), FAILED)
    study = store(b, TRIAL)
    assert merge(a, b) == Merged(0, 1, 0, 0)
    assert b.trials(study) == [TRIAL, FAILED]


@pytest.mark.parametrize(
    ("theirs", "ours", "stays"),
    [
        (CLAIM, dataclasses.replace(CLAIM, low=1.05), "theirs"),
        (CLAIM, dataclasses.replace(CLAIM, low=1.15), "ours"),
        (CLAIM, dataclasses.replace(CLAIM, verdict="no significant winner"), "theirs"),
        (dataclasses.replace(CLAIM, verdict="no significant winner"), CLAIM, "ours"),
        (CLAIM, dataclasses.replace(CLAIM, verdict="taken back", low=0.5), "ours"),
        (dataclasses.replace(CLAIM, verdict="taken back", low=9.0, high=9.9), CLAIM, "ours"),
    ],
)
def test_the_more_certain_claim_stays(
    a: Database, b: Database, theirs: StoredClaim, ours: StoredClaim, stays: str
) -> None:
    store(a, TRIAL, claim=theirs)
    study = store(b, TRIAL, claim=ours)
    merge(a, b)
    assert b.claimed(study) == (theirs if stays == "theirs" else ours)


def test_a_selection_that_was_taken_back_does_not_return(a: Database, b: Database) -> None:
    a.study(OPERATOR)
    a.choose(CHOICE)
    b.claim(b.study(OPERATOR), dataclasses.replace(CLAIM, verdict="taken back"))
    assert merge(a, b) == Merged()
    assert b.choices() == []


def test_of_two_selections_the_more_certain_one_stays(a: Database, b: Database) -> None:
    better = dataclasses.replace(CHOICE, choice="own", low=1.25)
    a.choose(CHOICE)
    b.choose(better)
    assert merge(a, b) == Merged()
    assert merge(b, a) == Merged(choices=1)
    assert a.choices() == [better]


def test_a_merge_that_fails_changes_nothing(
    a: Database, b: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    store(a, TRIAL, claim=CLAIM)
    a.choose(CHOICE)

    def full(_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(b, "choose", full)
    with pytest.raises(sqlite3.OperationalError):
        merge(a, b)
    assert b.studies() == []


def test_damaged_rows_of_the_source_are_left_out(
    a: Database, b: Database, caplog: pytest.LogCaptureFixture
) -> None:
    store(a, TRIAL, FAILED, claim=CLAIM)
    with sqlite3.connect(a.path) as connection:
        connection.execute("UPDATE trials SET config = 'x' WHERE invalidity = 'compile'")
        connection.execute("UPDATE claims SET noise = 'x'")
    connection.close()
    assert merge(a, b) == Merged(1, 1, 0, 0)
    assert "is damaged and left out" in caplog.text


def test_two_merges_at_once_lose_nothing(a: Database, b: Database, tmp_path: Path) -> None:
    study = store(a, *(StoredTrial({"tile": n}, "compile", "no") for n in range(200)))
    store(b, *(StoredTrial({"tile": n}, "compile", "no") for n in range(100, 300)))
    target = tmp_path / "c.sqlite"
    Database(target).close()

    def add(path: Path) -> None:
        merge(Database(path, read_only=True), Database(target))

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(add, [a.path, b.path]))
    found = Database(target)
    assert {each.config["tile"] for each in found.trials(found.study(study.identity))} == set(
        range(300)
    )


def test_the_command_names_what_it_added(
    a: Database, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store(a, TRIAL, FAILED, claim=CLAIM)
    target = tmp_path / "new.sqlite"
    assert tune("merge", str(a.path), str(target)) == 0
    said = capsys.readouterr().out
    assert "added studies: 1, trials: 2, verdicts: 1, selections: 0" in said


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        ("missing.sqlite", "b.sqlite", "there is no database"),
        ("a.sqlite", "a.sqlite", "are one file"),
        ("a.sqlite", "missing/b.sqlite", "there is no folder"),
    ],
)
def test_wrong_files_are_named(
    a: Database,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    source: str,
    target: str,
    message: str,
) -> None:
    assert tune("merge", str(tmp_path / source), str(tmp_path / target)) == 2
    assert message in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.glob("*.sqlite")) == ["a.sqlite"]


def test_a_file_that_is_no_database_is_refused(a: Database, tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("not a database\n" * 100)
    assert tune("merge", str(text), str(a.path)) == 2
    with pytest.raises(DatabaseError):
        Database(text, read_only=True)
