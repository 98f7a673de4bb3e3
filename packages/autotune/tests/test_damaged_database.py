"""Every reader skips damaged and forged rows of the database with a warning."""

from __future__ import annotations

import argparse
import json
import logging
import os
import sqlite3
from pathlib import Path

import pytest

from dl_autotune import DatabaseError
from dl_autotune.command import configure, run
from dl_autotune.runners.database import Database, StoredChoice, StoredClaim, StoredTrial, Study

SEQUENCE = "\x1b]0;owned\x07"
IDENTITY = {"kernel": "gemm.cpp", "function": "gemm", "shape": {"m": 3}, "vendor": "cpu"}
GOOD = StoredTrial({"tile": 8}, "correct", "", 1.25, 1.2, 1.3, (5e-3, 5e-3), (4e-3, 4e-3))
OTHER = StoredTrial({"tile": 16}, "compile", "error: no")
CLAIM = StoredClaim({"tile": 8}, "faster", 1.2, 1.1, 1.3, 0.01, ((1.1, 1.2), (1.3,)))
CHOICE = StoredChoice("cpu", "gemm:1", "own", "mm", 1.5, 1.4, 1.6)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "trials.sqlite"


@pytest.fixture
def study(path: Path) -> Study:
    database = Database(path)
    made = database.study(IDENTITY)
    for trial in (GOOD, OTHER):
        database.record(made, trial)
    database.claim(made, CLAIM)
    database.choose(CHOICE)
    database.close()
    return made


def change(path: Path, *statements: str) -> None:
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


def tune(*words: str) -> int:
    parser = argparse.ArgumentParser()
    configure(parser)
    return run(parser.parse_args(list(words)))


TRIAL = (
    "INSERT INTO trials (study, number, config, invalidity, message, ratio, low, high, baseline,"
    " candidate) VALUES (1, 9, {}, {}, {}, {}, {}, {}, {}, {})"
)
ROWS = {
    "a configuration that is not JSON": ("'{'", "'correct'", "''", 1, 1, 1, "'[1]'", "'[1]'"),
    "a list as configuration": ("'[1]'", "'correct'", "''", 1, 1, 1, "'[1]'", "'[1]'"),
    "deep JSON": (f"'{'[' * 100_000}'", "'correct'", "''", 1, 1, 1, "'[1]'", "'[1]'"),
    "an object as value": ("'{\"tile\": {}}'", "'correct'", "''", 1, 1, 1, "'[1]'", "'[1]'"),
    "a missing parameter": ("'{}'", "'compile'", "''", "NULL", "NULL", "NULL", "'[]'", "'[]'"),
    "another parameter": ("'{\"x\": 1}'", "'compile'", "''", *3 * ["NULL"], "'[]'", "'[]'"),
    "bytes": ("x'00ff'", "'correct'", "''", 1, 1, 1, "'[1]'", "'[1]'"),
    "a ratio of text": ("'{\"tile\": 9}'", "'correct'", "''", "'fast'", 1, 1, "'[1]'", "'[1]'"),
    "a ratio of nothing": ("'{\"tile\": 9}'", "'correct'", "''", 0, 1, 1, "'[1]'", "'[1]'"),
    "half an interval": ("'{\"tile\": 9}'", "'correct'", "''", 1, "NULL", 1, "'[1]'", "'[1]'"),
    "times of text": ("'{\"tile\": 9}'", "'correct'", "''", 1, 1, 1, "'[\"a\"]'", "'[1]'"),
    "an outcome of bytes": ("'{\"tile\": 9}'", "x'00'", "''", 1, 1, 1, "'[1]'", "'[1]'"),
}


@pytest.mark.parametrize("kind", ROWS)
def test_a_damaged_trial_is_left_out_by_all_commands(
    kind: str,
    study: Study,
    path: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    change(path, TRIAL.format(*ROWS[kind]))
    where = ("--database", str(path))
    with caplog.at_level(logging.WARNING, "dl_autotune"):
        assert tune("show", *where) == 0
        assert tune("show", study.key, "--all", *where) == 0
        assert tune("report", study.key, str(tmp_path / "page.html"), *where) == 0
        assert tune("export", study.key, str(tmp_path / "t4.json"), *where) == 0
    assert caplog.messages and all("left out" in line for line in caplog.messages)
    assert "2 trials" in capsys.readouterr().out
    assert len(json.loads((tmp_path / "t4.json").read_text())["results"]) == 2


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE claims SET config = '{'",
        "UPDATE claims SET config = x'00'",
        "UPDATE claims SET verdict = 'splendid'",
        "UPDATE claims SET races = '[[\"a\"]]'",
        "UPDATE claims SET races = '{}'",
        "UPDATE claims SET ratio = 'much'",
        "UPDATE claims SET noise = 'much'",
    ],
)
def test_a_damaged_claim_is_ignored(
    statement: str, study: Study, path: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    change(path, statement)
    where = ("--database", str(path))
    with caplog.at_level(logging.WARNING, "dl_autotune"):
        assert tune("show", study.key, *where) == 0
        assert tune("report", study.key, str(tmp_path / "page.html"), *where) == 0
    assert "claim 1 is damaged and left out" in caplog.text


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE studies SET identity = 'no JSON'",
        "UPDATE studies SET identity = '[]'",
        "UPDATE studies SET identity = '{\"shape\": 3}'",
        "UPDATE studies SET key = x'aabb'",
    ],
)
def test_a_damaged_study_is_not_shown_and_restarts(
    statement: str,
    study: Study,
    path: Path,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    change(path, statement)
    with caplog.at_level(logging.WARNING, "dl_autotune"):
        assert tune("show", "--database", str(path)) == 0
        assert tune("show", study.key, "--database", str(path)) == 2
    assert "study 1 is damaged and left out" in caplog.text
    assert "no study begins with" in capsys.readouterr().err
    assert Database(path).study(IDENTITY).key == study.key


def test_a_damaged_choice_is_left_out(study: Study, path: Path) -> None:
    row = "INSERT INTO choices (identity, key, choice, operator, ratio, low, high) VALUES "
    change(
        path,
        f"{row}('cpu', x'00', 'own', 'mm', 1, 1, 1)",
        f"{row}('cpu', 'gemm:2', printf('%.*c', 1000000, 'x'), 'mm', 1, 1, 1)",
        f"{row}('cpu', 'gemm:3', 'own', 'mm', 'fast', 1, 1)",
    )
    assert Database(path).choices() == [CHOICE]


def test_names_do_not_steer_the_terminal(
    path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    database = Database(path)
    made = database.study({**IDENTITY, "function": SEQUENCE, SEQUENCE: SEQUENCE})
    database.record(made, StoredTrial({SEQUENCE: SEQUENCE}, SEQUENCE, SEQUENCE))
    database.close()
    with caplog.at_level(logging.WARNING, "dl_autotune"):
        assert tune("show", "--database", str(path)) == 0
        assert tune("show", made.key, "--database", str(path)) == 0
        assert tune("show", SEQUENCE, "--database", str(path)) == 2
        change(path, f"CREATE VIEW '{SEQUENCE}' AS SELECT 1")
        assert tune("show", "--database", str(path)) == 2
    seen = capsys.readouterr()
    assert "\x1b" not in seen.out + seen.err + caplog.text
    assert r"\x1b]0;owned\x07" in seen.out


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("CREATE VIEW more AS SELECT 1", "it has the view 'more'"),
        ("CREATE TRIGGER t AFTER INSERT ON trials BEGIN SELECT 1; END", "it has the trigger 't'"),
        ("CREATE INDEX i ON trials (hex(config))", "it has the index 'i'"),
        ("ALTER TABLE choices ADD COLUMN x AS (hex(choice))", "has a generated column"),
    ],
)
def test_a_database_that_computes_is_not_touched(
    statement: str, said: str, study: Study, path: Path
) -> None:
    change(path, statement)
    before = path.read_bytes()
    with pytest.raises(DatabaseError, match=f"{said}.*; name another file with --database"):
        Database(path)
    assert path.read_bytes() == before


def test_a_database_that_others_can_write_is_not_used(study: Study, path: Path) -> None:
    path.chmod(0o666)
    with pytest.raises(DatabaseError, match=r"other users could have changed it: .* by everyone"):
        Database(path)
    path.chmod(0o600)
    Database(path).close()


def test_a_database_that_is_not_a_regular_file_is_refused(path: Path) -> None:
    os.mkfifo(path)
    with pytest.raises(DatabaseError, match="is a FIFO, not a regular file"):
        Database(path)
