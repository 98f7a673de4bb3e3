"""Files of tuned choices that are damaged, forged, too new, or writable by other users."""

from __future__ import annotations

import logging
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dl_core import foreign_database
from dl_core.foreign_database import Deadline, ForeignDatabaseError
from dl_core.tuned_choices import SCHEMA, read_layers

GOOD = ("cpu", "gemm:1,2", "own", "mm", 1.5, 1.4, 1.6)
INSERT = "INSERT INTO choices (identity, key, choice, operator, ratio, low, high) VALUES "


def database(path: Path, *rows: tuple[Any, ...], script: str = SCHEMA) -> Path:
    connection = sqlite3.connect(path)
    connection.executescript(script)
    connection.executemany(f"{INSERT}(?, ?, ?, ?, ?, ?, ?)", rows)
    connection.commit()
    connection.close()
    return path


def test_rows_not_reported_by_a_vendor_are_left_out_and_counted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    damaged = [
        (key, choice)
        for key, choice in (
            (b"gemm:3", "own"),
            ("gemm:4", b"own"),
            ("gemm:5", "x" * 2_000_000),
            ("g" * 5000 + ":1", "own"),
            ("gemm", "own"),
            ("gemm:1,,2", "own"),
            ("gemm:one", "own"),
            (f"gemm:{10**30}", "own"),
            (f"gemm:{','.join('1' * 65)}", "own"),
            (7, "own"),
        )
    ]
    rows = [("cpu", key, choice, *GOOD[3:]) for key, choice in damaged]
    path = database(tmp_path / "t.sqlite", GOOD, ("other", *GOOD[1:]), *rows)
    with caplog.at_level(logging.WARNING, "dl_core.tuning"):
        found = read_layers([("user", path)], "cpu")
    # SQLite stores a number in a text column as text.
    assert found.choices == {"gemm:1,2": "own"}
    assert (found.ignored, found.origins) == (1, {"user": 1})
    assert caplog.messages == [
        f"tuned choices of layer 'user': {path} has {len(damaged)} damaged entries, which are "
        "ignored"
    ]


def view(path: Path) -> None:
    endless = (
        "CREATE VIEW choices AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
        "SELECT 'cpu' AS identity, 'gemm:' || i AS key, 'own' AS choice FROM n;"
    )
    connection = sqlite3.connect(path)
    connection.executescript(endless)
    connection.close()


def generated(path: Path) -> None:
    columns = "identity TEXT, key TEXT, choice TEXT AS (hex(zeroblob(400000000)))"
    connection = sqlite3.connect(path)
    connection.executescript(f"CREATE TABLE choices ({columns});")
    connection.close()


def newer(path: Path) -> None:
    database(path, GOOD, script=f"{SCHEMA} PRAGMA user_version = 2;")


def text(path: Path) -> None:
    path.write_text("\x1b[2Jno database, but longer than its header has to be" * 100)


def link_to_a_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def open_to_all(path: Path) -> None:
    database(path, GOOD).chmod(0o666)


def with_a_log_that_others_wrote(path: Path) -> None:
    database(path, GOOD)
    log = path.with_name(f"{path.name}-wal")
    log.write_bytes(b"")
    log.chmod(0o666)


UNUSABLE: dict[str, tuple[Callable[[Path], object], str]] = {
    "an endless view": (view, "it has the view 'choices', and only tables are read"),
    "a generated column": (generated, "its table 'choices' has a generated column"),
    "a newer schema": (newer, "it is of version 2, and this release reads up to 1"),
    "no database": (text, "file is not a database"),
    "a FIFO": (os.mkfifo, "is a FIFO, not a regular file"),
    "a device": (link_to_a_device, "is a character device"),
    "a file that everyone can write": (open_to_all, "other users could have changed it"),
    "a log that everyone can write": (
        with_a_log_that_others_wrote,
        "other users could have changed",
    ),
}


@pytest.mark.parametrize("kind", UNUSABLE)
def test_a_file_that_is_not_to_be_used_is_one_warning(
    kind: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    make, said = UNUSABLE[kind]
    make(tmp_path / "bad.sqlite")
    good = database(tmp_path / "good.sqlite", GOOD)
    with caplog.at_level(logging.WARNING, "dl_core.tuning"):
        found = read_layers([("user", tmp_path / "bad.sqlite"), ("site", good)], "cpu")
    assert found.choices == {"gemm:1,2": "own"} and found.origins == {"site": 1}
    (line,) = found.unreadable
    (message,) = caplog.messages
    assert said in line and said in message
    assert message.isprintable()


def test_a_folder_that_everyone_can_write_is_no_place_for_choices(tmp_path: Path) -> None:
    folder = tmp_path / "open"
    folder.mkdir()
    path = database(folder / "t.sqlite", GOOD)
    folder.chmod(0o777)
    (line,) = read_layers([("user", path)], "cpu").unreadable
    assert "open can be written to by everyone" in line


def test_a_statement_that_does_not_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter(range(0, 10_000, 4))
    monkeypatch.setattr(foreign_database.time, "monotonic", lambda: next(times))
    connection = sqlite3.connect(":memory:")
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT count(*) FROM n"
    deadline = Deadline(connection)
    with (
        pytest.raises(ForeignDatabaseError, match="a statement takes more than 10 s"),
        deadline.statement(),
    ):
        connection.execute(endless).fetchone()
    with deadline.statement():
        assert connection.execute("SELECT 1").fetchone() == (1,)


def test_text_that_is_no_utf8_matches_nothing(tmp_path: Path) -> None:
    path = database(tmp_path / "t.sqlite", GOOD)
    connection = sqlite3.connect(path)
    connection.execute(f"{INSERT}('cpu', CAST(x'67ff3a31' AS TEXT), 'own', 'mm', 1, 1, 1)")
    connection.commit()
    connection.close()
    assert "gemm:1,2" in read_layers([("user", path)], "cpu").choices


def test_a_file_without_choices_is_no_problem(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "t.sqlite")
    connection.execute("CREATE TABLE studies (id INTEGER)")
    connection.close()
    found = read_layers([("user", tmp_path / "t.sqlite")], "cpu")
    assert (found.choices, found.origins, found.unreadable) == ({}, {}, [])


class FakeServer:
    """Server of choices.

    :param entries: entries to return, or the error to raise.
    """

    def __init__(self, entries: list[tuple[str, str, str]] | Exception) -> None:
        self._entries = entries

    def read_choices(self) -> list[tuple[str, str, str]]:
        if isinstance(self._entries, Exception):
            raise self._entries
        return self._entries

    def __str__(self) -> str:
        return "server"


def test_choices_of_a_server_are_checked_and_merged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    entries = [("cpu", "gemm:1,2", "first"), ("cpu", "no key", "own"), ("other", "gemm:3", "own")]
    layers = [("user", FakeServer(entries)), ("site", database(tmp_path / "t.sqlite", GOOD))]
    found = read_layers(layers, "cpu")
    assert found.choices == {"gemm:1,2": "first"}
    assert (found.ignored, found.origins) == (1, {"user": 1, "site": 0})
    assert caplog.messages == [
        "tuned choices of layer 'user': server has 1 damaged entries, which are ignored"
    ]


def test_a_server_that_fails_is_one_warning(caplog: pytest.LogCaptureFixture) -> None:
    found = read_layers([("user", FakeServer(ValueError("it is away")))], "cpu")
    assert found.choices == {}
    assert found.unreadable == ["server: ValueError: it is away"]
    assert caplog.messages == [
        "tuned choices of layer 'user' are ignored: server: ValueError: it is away"
    ]
