"""Studies on a PostgreSQL server are the same as those in a file, and processes share them."""

from __future__ import annotations

import argparse
import itertools
import math
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from dl_autotune import DatabaseError
from dl_autotune.command import configure, run
from dl_autotune.errors import UnavailableDatabaseError
from dl_autotune.layers import ChoiceServer, as_layer, open_layers, user_database
from dl_autotune.location import Address
from dl_autotune.runners.database import (
    Database,
    StoredChoice,
    StoredClaim,
    StoredTransfer,
    StoredTrial,
)
from dl_autotune.runners.merge import Merged, merge
from postgresql_server import PASSWORD, PostgresqlServer, run_server

IDENTITY = {"kernel": "gemm.cpp", "function": "gemm", "device": "cpu 1", "shape": {"m": 3}}
TRIAL = StoredTrial({"tile": 8}, "correct", "", 1.2, 1.1, math.inf, (1e-3,), (0.5e-3,))
FAILED = StoredTrial({"tile": 16}, "compile", "error: no\nline 2")
CLAIM = StoredClaim({"tile": 8}, "faster", 1.2, 1.1, 1.3, 0.01, ((1.1, 1.2),))
CHOICE = StoredChoice("cpu 1", "gemm:1", "packed", "mm", 1.3, 1.2, 1.4)
TRANSFER = StoredTransfer("abc", "site", {"kernel": "gemm.cpp"}, ({"tile": 8},), 5, 1)
WRITER = """
import sys
from dl_autotune.location import locate
from dl_autotune.runners.database import Database, StoredTrial
database = Database(locate(sys.argv[1]))
study = database.study({"kernel": "shared"})
for number in range(int(sys.argv[3])):
    database.record(study, StoredTrial({"writer": sys.argv[2], "number": number}, "compile"))
    print(number, flush=True)
"""


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresqlServer]:
    yield from run_server()


numbers = itertools.count()


@pytest.fixture
def address(server: PostgresqlServer) -> Address:
    """Address of a new database."""
    import psycopg

    name = f"test{next(numbers)}"
    with psycopg.connect(server.address().secret, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    return server.address(name)


def change(address: Address, statement: str) -> None:
    import psycopg

    with psycopg.connect(address.secret, autocommit=True) as connection:
        connection.execute(statement.encode())


def tune(*words: str) -> int:
    parser = argparse.ArgumentParser()
    configure(parser)
    return run(parser.parse_args(list(words)))


def fill(database: Database) -> None:
    study = database.study(IDENTITY)
    for trial in (TRIAL, FAILED):
        database.record(study, trial)
    database.claim(study, CLAIM)
    database.record_transfer(study, TRANSFER)
    database.choose(CHOICE)


def test_a_server_returns_what_a_file_does(address: Address, tmp_path: Path) -> None:
    for made in (Database(address), Database(tmp_path / "t.sqlite")):
        fill(made)
        made.close()
        database = Database(made.path, read_only=True)
        (study,) = database.studies()
        assert (study.identity, study.id) == (IDENTITY, 1)
        assert len(study.created) == len("2026-01-01 00:00:00")
        assert database.trials(study) == [TRIAL, FAILED]
        assert database.claimed(study) == CLAIM
        assert database.transfers(study) == [TRANSFER]
        assert database.choices() == [CHOICE]
        with pytest.raises(DatabaseError, match="read"):
            database.study({"another": 1})
        database.close()


def test_rows_are_replaced_forgotten_and_ordered_by_their_writing(address: Address) -> None:
    database = Database(address)
    study = database.study(IDENTITY)
    fill(database)
    again = StoredTrial({"tile": 8}, "runtime", "crash")
    database.record(study, again)
    assert database.trials(study) == [FAILED, again]
    database.unchoose("cpu 1", ["gemm:1", "none"])
    assert database.choices() == []
    database.forget(study)
    assert database.studies() == []


def test_texts_that_the_server_does_not_have_are_stored_nearly(address: Address) -> None:
    database = Database(address)
    study = database.study(IDENTITY)
    large = {f"parameter {number}": "x" * 40 for number in range(200)}
    database.record(study, StoredTrial(large, "compile", "a\0b\udcff"))
    (trial,) = database.trials(study)
    assert (trial.config, trial.message) == (large, "a\\x00b\\udcff")


def test_files_and_servers_are_merged_in_both_directions(
    address: Address, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, last = tmp_path / "a.sqlite", tmp_path / "b.sqlite"
    fill(Database(first))
    assert tune("merge", str(first), address.secret) == 0
    assert "studies: 1, trials: 2, verdicts: 1, selections: 1" in capsys.readouterr().out
    assert tune("merge", address.secret, str(last)) == 0
    copy = Database(last)
    (study,) = copy.studies()
    assert copy.trials(study) == [TRIAL, FAILED]
    assert copy.transfers(study) == [TRANSFER]
    assert merge(copy, Database(address)) == Merged()
    assert tune("merge", address.secret, address.secret) == 2
    assert "name two databases" in capsys.readouterr().err


def test_commands_read_and_change_a_server(
    address: Address, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DL_TUNING_DATABASE", address.secret)
    assert tune("show") == 0
    assert f"nothing was tuned yet in {address}" in capsys.readouterr().out
    fill(Database(address))
    (study,) = Database(address).studies()
    assert tune("show", study.key[:6]) == 0
    assert "5 trials of abc (on None; layer site), 1 outside" in capsys.readouterr().out
    assert tune("forget", study.key) == 0
    assert "with 2 trials" in capsys.readouterr().out
    assert Database(address).studies() == []


def test_layers_can_be_on_a_server(address: Address, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DL_TUNING_DATABASE", address.secret)
    monkeypatch.setenv("DL_TUNING_SITE", address.secret)
    fill(Database(address))
    layers = dict(open_layers())
    assert [each.key for each in layers["site"].studies()] == [
        each.key for each in Database(address).studies()
    ]
    found = as_layer(user_database())
    assert isinstance(found, ChoiceServer)
    assert found.read_choices() == [("cpu 1", "gemm:1", "packed")]


def test_without_the_driver_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(DatabaseError, match=r"pip install 'dl-autotune\[postgresql\]'"):
        Database(Address("postgresql://tuner@localhost/tuning"))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("postgresql://u:secret@host:1/name?sslmode=off", "postgresql://u@host:1/name"),
        ("postgres://host/name?password=secret", "postgresql://host/name"),
        ("postgresql://u:secret@[::1]:1,other:2/name", "postgresql://u@[::1]:1,other:2/name"),
        ("postgresql://u:p?secret@host/name", "postgresql://..."),
        ("postgresql://u:p/secret@host/name", "postgresql://..."),
        ("postgresql://u:p@secret@host/name", "postgresql://..."),
        ("postgresql://host/name?password=p@secret", "postgresql://..."),
    ],
)
def test_an_address_is_shown_without_its_password(text: str, shown: str) -> None:
    assert str(Address(text)) == shown
    assert "secret" not in repr(Address(text))


@pytest.mark.parametrize("tail", ["p@secret@host/name", "secret@host/name?unknown=1"])
def test_an_invalid_address_is_not_quoted(tail: str) -> None:
    pytest.importorskip("psycopg")
    with pytest.raises(DatabaseError, match="the address is not valid: expected") as caught:
        Database(Address(f"postgresql://u:{tail}"))
    assert "secret" not in str(caught.value)


def test_a_wrong_password_is_an_error_without_it(server: PostgresqlServer) -> None:
    with pytest.raises(DatabaseError, match="check the user and the password") as caught:
        Database(server.address(user="tuner:wr%2Fong"))
    assert "wr/ong" not in str(caught.value)
    assert "wr%2Fong" not in str(caught.value)
    with pytest.raises(DatabaseError, match="check the user and the password"):
        Database(server.address(user="stranger:secret"))
    with pytest.raises(
        DatabaseError, match='"missing" does not exist; create the database'
    ) as lost:
        Database(server.address("missing"))
    assert PASSWORD not in str(lost.value)


def test_a_server_that_is_not_running_is_unavailable(tmp_path: Path) -> None:
    pytest.importorskip("psycopg")
    # A folder without a socket, in the place of a host.
    host = str(tmp_path).replace("/", "%2F")
    with pytest.raises(UnavailableDatabaseError, match="the server is not reachable: start it"):
        Database(Address(f"postgresql://u:secret@{host}/name"))


def test_tables_of_another_version_are_refused(address: Address) -> None:
    Database(address).close()
    change(address, "UPDATE dl_tuning.version SET version = 99")
    for read_only in (True, False):
        with pytest.raises(DatabaseError, match="tables are of version 99, and this release reads"):
            Database(address, read_only=read_only)


def test_tables_of_another_program_are_not_touched(address: Address) -> None:
    change(address, "CREATE SCHEMA dl_tuning CREATE TABLE studies (patient text)")
    with pytest.raises(DatabaseError, match='"studies" already exists; name another database'):
        Database(address)
    change(address, "INSERT INTO dl_tuning.studies VALUES ('untouched')")


def test_several_processes_can_create_the_tables(address: Address) -> None:
    with ThreadPoolExecutor(8) as pool:
        databases = [*pool.map(lambda _: Database(address), range(8))]
    assert {each.study(IDENTITY).id for each in databases} == {1}


def test_a_row_is_stored_although_the_server_was_killed(
    address: Address, server: PostgresqlServer, caplog: pytest.LogCaptureFixture
) -> None:
    database = Database(address)
    study = database.study(IDENTITY)
    database.record(study, TRIAL)
    server.kill()
    restart = threading.Thread(target=server.start)
    restart.start()
    database.record(study, FAILED)
    restart.join()
    assert database.trials(study) == [TRIAL, FAILED]
    assert "the connection was lost" in caplog.text


def test_a_server_that_stays_away_is_an_error_that_names_what_is_kept(
    address: Address, server: PostgresqlServer
) -> None:
    database = Database(address, patience=0.3)
    study = database.study(IDENTITY)
    database.record(study, TRIAL)
    inside = Database(address)

    def lose() -> None:
        with inside.transaction():
            inside.record(study, FAILED)
            server.kill()
            inside.choose(CHOICE)

    with pytest.raises(UnavailableDatabaseError, match="as a whole or not at all"):
        lose()
    try:
        with pytest.raises(
            UnavailableDatabaseError,
            match=r"within 0\.3 s; what it confirmed is kept \(trials: 1\)",
        ) as caught:
            database.record(study, FAILED)
        assert PASSWORD not in str(caught.value)
    finally:
        server.start()
    assert Database(address).trials(study) == [TRIAL]
    assert Database(address).choices() == []


def test_processes_share_a_study_and_a_killed_one_loses_no_stored_trial(address: Address) -> None:
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, address.secret, name, count],
            stdout=subprocess.PIPE,
            text=True,
        )
        for name, count in (("killed", "1000000"), ("other", "30"))
    ]
    killed, other = writers
    assert killed.stdout is not None
    assert other.stdout is not None
    for _ in range(20):
        assert killed.stdout.readline()
    killed.send_signal(signal.SIGKILL)
    reported = 20 + len(killed.stdout.read().splitlines())
    assert killed.wait() == -signal.SIGKILL
    assert len(other.stdout.read().splitlines()) == 30
    assert other.wait() == 0
    for each in writers:
        assert each.stdout is not None
        each.stdout.close()
    database = Database(address)
    (study,) = database.studies()
    found = [trial.config for trial in database.trials(study)]
    counts = {name: sum(c["writer"] == name for c in found) for name in ("killed", "other")}
    assert counts["other"] == 30
    # The statement in flight may have been executed.
    assert counts["killed"] - reported in (0, 1)
