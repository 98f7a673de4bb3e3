"""Measured choices at dispatch: layers, an installed wheel, other devices, the off switch."""

from __future__ import annotations

import argparse
import gc
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from dl_autotune.command import configure, run
from dl_autotune.errors import DatabaseError, TuningError
from dl_autotune.observers.race import RaceSettings
from dl_autotune.operators import tuner
from dl_autotune.operators.call import Call
from dl_autotune.operators.command import format_call
from dl_autotune.operators.model import record_calls
from dl_autotune.operators.plan import OperatorPlan
from dl_autotune.operators.tuner import tune_call
from dl_autotune.operators.wheel import export_wheel
from dl_autotune.operators.worker import Subject, search
from dl_autotune.runners.database import Database, StoredChoice
from dl_autotune.runners.device_lock import DeviceLock
from dl_core.tuned_choices import read_layers

from .processes import RUNS_ONCE, output

pytestmark = RUNS_ONCE
KEY = """
import json, torch
from dl_core.torch_backend.tuning import extension
torch.manual_seed(5)
a, b = torch.randn(2, 48, 48).to("dl")
choices = extension("cpu")
"""
LEARN = (
    KEY
    + """
choices.record()
a @ b
key, = (str(record.key) for record in choices.recorded())
print(json.dumps([choices.identity(), key, (a @ b).cpu().numpy().tobytes().hex()]))
"""
)
USE = (
    KEY
    + """
result = (a @ b).cpu().numpy().tobytes().hex()
print(json.dumps([torch.dl.tuning_stats()["cpu"], result]))
"""
)
COMPILED = (
    USE
    + """
compiled = torch.compile(lambda x, y: x @ y, backend="dl")
compiled(a, b)
before = torch.dl.tuning_stats()["cpu"]["hits"]
compiled(a, b)
print(torch.dl.tuning_stats()["cpu"]["hits"] - before)
"""
)


def choice(identity: str, key: str, name: str = "own") -> StoredChoice:
    return StoredChoice(identity, key, name, "mm", 1.5, 1.4, 1.6)


def test_a_wheel_is_used_and_ignored_on_another_device(tmp_path: Path) -> None:
    database = tmp_path / "user.sqlite"
    site = tmp_path / "site"
    path = os.pathsep.join(filter(None, [str(site), os.environ.get("PYTHONPATH")]))
    variables = {"DL_VENDORS": "cpu", "DL_TUNING_DATABASE": str(database), "PYTHONPATH": path}
    identity, key, usual = json.loads(output(LEARN, **variables))
    wheels = [
        export_wheel("this", [choice(identity, key)], tmp_path),
        export_wheel("other", [choice("another GPU", key), choice("cpu 0", key)], tmp_path),
    ]
    install = [sys.executable, "-m", "pip", "install", "--no-deps", "--target", str(site)]
    subprocess.run([*install, "--no-index", *wheels], check=True, capture_output=True)
    eager, in_graph = output(COMPILED, **variables).splitlines()
    stats, _ = json.loads(eager)
    assert stats["entries"] == 1 and stats["ignored"] == 2
    assert stats["from_tuned-this"] == 1 and stats["from_tuned-other"] == 0
    assert (stats["hits"], stats["misses"], in_graph) == (1, 0, "1")

    # The user's own entry has precedence; off gives bitwise the default result.
    Database(database).choose(choice(identity, key, "no such choice"))
    off, result = json.loads(output(USE, DL_TUNING="off", **variables))
    assert (off["entries"], off["hits"], off["misses"]) == (0, 0, 0) and result == usual
    refused, result = json.loads(output(USE, **variables).splitlines()[-1])
    assert refused["from_user"] == 1 and refused["from_tuned-this"] == 0
    assert refused["entries"] == 0 and result == usual


COMPILED_PROGRAM = """
import torch
x, weight = torch.ones(6, 40, device="dl"), torch.ones(40, 30, device="dl", requires_grad=True)
run = torch.compile(lambda a, b: (a @ b).relu().sum(), backend="dl")
for _ in range(2):
    run(x, weight).backward()
"""


def test_a_folder_in_the_place_of_a_database_is_named(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", USE],
        env={**os.environ, "DL_TUNING_DATABASE": str(tmp_path), "DL_TUNING_SITE": os.devnull},
        capture_output=True,
        text=True,
        check=True,
    )
    for name, path in (("user", tmp_path), ("site", os.devnull)):
        said = f"tuned choices of layer {name!r} are ignored: {path} is not a file"
        assert said in done.stderr


def test_a_database_is_read_where_nothing_can_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "tuning.sqlite"
    Database(path).choose(choice("cpu", "gemm:1"))
    gc.collect()  # closes it
    for suffix in (
        "-wal",
        "-shm",
    ):  # the files that SQLite would create next to it cannot be created
        (tmp_path / f"{path.name}{suffix}").mkdir()
    assert read_layers([("site", path)], "cpu").unreadable
    monkeypatch.setattr(os, "access", lambda *_: False)
    found = read_layers([("site", path)], "cpu")
    assert found.choices == {"gemm:1": "own"} and not found.unreadable
    assert [each.key for each in Database(path).choices()] == ["gemm:1"]
    with pytest.raises(DatabaseError, match="readonly database; name another file"):
        Database(path).choose(choice("cpu", "gemm:2"))


def test_calls_of_compiled_graphs_are_recorded() -> None:
    calls = record_calls([sys.executable, "-c", COMPILED_PROGRAM], "cpu")
    shapes = {tuple(tuple(x["shape"]) for x in call.arguments): n for call, n, _ in calls}
    assert shapes == {((6, 40), (40, 30)): 2, ((40, 6), (6, 30)): 2}


def trial(name: str, ratio: float | None, message: str = "") -> dict[str, Any]:
    if ratio is None:
        return {"key": "gemm:1", "choice": name, "invalidity": "correctness", "message": message}
    return {"key": "gemm:1", "choice": name, "invalidity": "correct", **raced(ratio)}


def raced(ratio: float) -> dict[str, Any]:
    low, high, times = ratio * 0.98, ratio * 1.02, [0.1] * 8
    ratios = [ratio * (1 + 0.002 * (number % 3 - 1)) for number in range(8)]
    sides = {"ratios": ratios, "baseline": times, "candidate": times}
    return {"ratio": ratio, "low": low, "high": high, **sides}


def fake_ask(best: dict[str, str], again: float) -> Any:
    def ask(job: dict[str, Any]) -> dict[str, Any]:
        if job["do"] == "race":
            assert job["table"] == best
            return {"identity": "this", **raced(again)}
        trials = [trial("slow", 0.5), trial("fast", 2.0), trial("wrong", None, "mm is off")]
        keys = [{"key": "gemm:1", "choices": ["slow", "fast", "wrong"]}]
        return {"identity": "this", "trials": trials, "best": best, "noise": 0.01, "keys": keys}

    return ask


CALL = Call("mm", ({"shape": [2, 2], "dtype": "float32"},) * 2, {})
PLAN = OperatorPlan(seconds=1, processes=3)


def test_a_slow_choice_is_replaced_and_a_wrong_one_refused(tmp_path: Path) -> None:
    database = Database(tmp_path / "t.sqlite")
    database.choose(choice("this", "gemm:1", "slow"))
    database.choose(choice("other", "gemm:1", "slow"))
    tuned = tune_call(CALL, "cpu", database, PLAN, fake_ask({"gemm:1": "fast"}, 2.0))
    assert tuned.chosen == {"gemm:1": "fast"} and tuned.refused == (("wrong", "mm is off"),)
    assert {(c.identity, c.choice) for c in database.choices()} == {
        ("this", "fast"),
        ("other", "slow"),
    }
    (study,) = database.studies()
    database.forget(study)
    assert [c.identity for c in database.choices()] == ["other"]


@pytest.mark.parametrize("again", [1.0, 0.9])
def test_what_does_not_win_again_is_not_chosen(tmp_path: Path, again: float) -> None:
    database = Database(tmp_path / "t.sqlite")
    database.choose(choice("this", "gemm:1", "slow"))
    tuned = tune_call(CALL, "cpu", database, PLAN, fake_ask({"gemm:1": "fast"}, again))
    assert tuned.chosen == {} and database.choices() == []


def test_a_verdict_that_is_withdrawn_is_not_shown(tmp_path: Path) -> None:
    database = Database(tmp_path / "t.sqlite")
    tune_call(CALL, "cpu", database, PLAN, fake_ask({"gemm:1": "fast"}, 2.0))
    (study,) = database.studies()
    before = database.claimed(study)
    tune_call(CALL, "cpu", database, PLAN, fake_ask({}, 2.0))
    after = database.claimed(study)
    assert before is not None and after is not None
    assert (before.verdict, after.verdict) == ("faster", "no significant winner")


def test_a_call_without_a_choice_leaves_no_study(tmp_path: Path) -> None:
    database = Database(tmp_path / "t.sqlite")
    keys = [{"key": "gemm:1", "choices": ["own"]}]
    found = {"identity": "this", "trials": [], "best": {}, "noise": 0.0, "keys": keys}
    tuned = tune_call(CALL, "cpu", database, PLAN, lambda _: found)
    assert "there are no choices for this call" in format_call(tuned)
    assert database.studies() == []


def tuned_beside(
    busy: float, best: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[Database, tuner.TunedCall]:
    """Return a call whose fastest choice is `best`, tuned while ``busy`` processors are in use."""
    monkeypatch.setattr(tuner, "processors_in_use", lambda: busy)
    database = Database(folder / "t.sqlite")
    return database, tune_call(CALL, "cpu", database, PLAN, fake_ask({"gemm:1": best}, 2.0))


@pytest.mark.parametrize("busy", [0.0, 1.2])
def test_it_is_said_that_others_kept_the_machine_busy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, busy: float
) -> None:
    _, tuned = tuned_beside(busy, "fast", tmp_path, monkeypatch)
    assert ("other processes kept 1.2 of" in format_call(tuned)) == bool(busy)


@pytest.mark.parametrize("busy", [0.0, 1.2])
def test_one_thread_is_not_chosen_for_the_load_of_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, busy: float
) -> None:
    database, tuned = tuned_beside(busy, "fast/1", tmp_path, monkeypatch)
    assert bool(tuned.chosen) == bool(database.choices()) == (not busy)
    (study,) = database.studies()
    claimed = database.claimed(study)
    assert claimed is not None
    assert claimed.verdict == ("faster under load" if busy else "faster")
    assert ("verdict faster under load" in format_call(tuned)) == bool(busy)


class Planted:
    """A call whose default implementation is slow, and whose fastest one is wrong."""

    class Record:
        key, calls, choices = "gemm:1", 1, ("usual", "good", "broken", "bad")

    records = (Record(),)

    def __init__(self) -> None:
        self.seconds = {"usual": 1e-3, "good": 5e-4, "broken": 1e-4, "bad": 2e-3}
        self.timed_choices: set[str] = set()

    def wrong(self, table: dict[str, str]) -> str:
        return "mm is off" if table["gemm:1"] == "broken" else ""

    def timed(self, table: dict[str, str]) -> Any:
        name = table.get("gemm:1", "usual")

        def run() -> float:
            self.timed_choices.add(name)
            return self.seconds[name]

        return run


def test_a_search_finds_the_fast_one_and_times_no_wrong_one() -> None:
    subject: Any = Planted()
    found = search(subject, RaceSettings(), seed=1, seconds=60)
    assert found["best"] == {"gemm:1": "good"}
    assert subject.timed_choices == {"usual", "good", "bad"}
    assert [t["choice"] for t in found["trials"] if t["invalidity"] == "correctness"] == ["broken"]


def test_a_wheel_needs_a_name_a_version_and_choices(tmp_path: Path) -> None:
    one = [choice("this", "gemm:1")]
    for name, choices, version in (("A b", one, "1"), ("a", [], "1"), ("a", one, "x")):
        with pytest.raises(TuningError):
            export_wheel(name, choices, tmp_path, version=version)


def test_calls_are_tuned_on_as_many_threads_as_they_were_made_on() -> None:
    before, keys = torch.get_num_threads(), []
    try:
        for threads in (1, 2):
            call = Call("mm", ({"shape": [8, 8], "dtype": "float32"},) * 2, {}, threads)
            assert Call.of_json(json.loads(call.signature())) == call
            (record,) = Subject(call, "cpu", seed=0).records
            keys.append(record.key)
    finally:
        torch.set_num_threads(before)
    assert keys[0] != keys[1]


def test_of_ranks_that_wait_one_tunes_and_the_others_take_what_it_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    left: dict[str, str] = {}
    tuned: list[Call] = []
    # As if each process had waited for the previous one.
    monkeypatch.setattr(DeviceLock, "answer", lambda _, question: left.get(question))
    monkeypatch.setattr(DeviceLock, "leave", lambda _, *pair: left.update([pair]))
    monkeypatch.setattr(
        "dl_autotune.operators.tuner.tune_call", lambda call, *_: tuned.append(call)
    )
    monkeypatch.setattr("dl_autotune.operators.command.format_call", lambda _: "verdict faster\n")

    def run_tune(database: str) -> str:
        parser = argparse.ArgumentParser()
        configure(parser)
        words = ["op", "mm", "--shapes", "4x4", "4x4", "--database", str(tmp_path / database)]
        assert run(parser.parse_args(words)) == 0
        return capsys.readouterr().out

    assert run_tune("one.sqlite") == "verdict faster\n"
    assert run_tune("one.sqlite") == "verdict faster\nfound   by another rank of this job\n"
    assert len(tuned) == 1
    # With a database of its own, a rank has to write its result.
    assert run_tune("two.sqlite") == "verdict faster\n"
    assert len(tuned) == 2
