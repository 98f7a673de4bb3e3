"""Hostile candidates become failed trials with a reason, and leave nothing behind.

A few are tried each time; DL_TEST_SAMPLE=1 tries 200.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from diopi_proto.worker import below
from dl_autotune.observers import RaceSettings
from dl_autotune.runners.database import Database, StoredTrial
from dl_autotune.runners.kernel_worker import Target
from dl_autotune.runners.limits import Limits
from dl_autotune.runners.tuner import Plan, Tuner
from dl_autotune.strategies import Budget

pytestmark = pytest.mark.skipif(
    not any(map(shutil.which, ("c++", "g++", "clang++"))), reason="needs a C++ compiler"
)
KERNEL = Path(__file__).parent / "kernels" / "hostile.py"
QUICK = RaceSettings(looks=(4,), repeats=2, seconds=0.2)
EVERY = os.environ.get("DL_TEST_SAMPLE") == "1"
WANTED = 208 if EVERY else 3
LIMITS = Limits(memory=1 << 30, processes=64, printed=32 << 20)
PIPES = ("its pipes were closed", "closed its pipes", "something else than an answer")
SAID: dict[int, tuple[str, tuple[str, ...]]] = {
    1: ("runtime", ("SIGSEGV",)),
    2: ("runtime", ("SIGABRT",)),
    3: ("runtime", ("SIGSEGV",)),
    4: ("runtime", ("SIGKILL",)),
    5: ("runtime", ("status 0",)),
    6: ("runtime", ("status 0",)),
    7: ("timeout", ("no answer within",)),
    8: ("timeout", ("no answer within",)),
    9: ("timeout", ("no answer within",)),
    10: ("runtime", ("processes, but only 64 are allowed",)),
    11: ("runtime", ("processes, but only 64 are allowed",)),
    12: ("runtime", (" behind",)),
    13: ("runtime", (" behind",)),
    14: ("correctness", ("b is wrong",)),
    15: ("correctness", ("b is wrong",)),
    16: ("correctness", ("writes outside of b",)),
    17: ("correctness", ("writes outside of b",)),
    18: ("correctness", ("changes its input a",)),
    19: ("runtime", ("printed more than 32 MiB",)),
    20: ("runtime", PIPES),
    21: ("runtime", PIPES),
    22: ("runtime", PIPES),
    23: ("timeout", ("no answer within",)),
    24: ("runtime", ("SIGSEGV",)),
    25: ("runtime", ("of memory, but only 1,024 MiB are allowed",)),
    26: ("runtime", ("SIGXFSZ", "SIGABRT")),
    27: ("runtime", (" behind",)),
    28: ("runtime", ("its guard process was killed",)),
    29: ("runtime", ("SIGABRT", "SIGSEGV")),
}


def judged(trial: StoredTrial) -> str:
    """Return what is wrong with a trial; empty if nothing is."""
    invalidity, messages = SAID[int(str(trial.config["DEED"]))]
    if trial.invalidity == invalidity and any(each in trial.message for each in messages):
        return ""
    return f"{trial.config}: {trial.invalidity}: {trial.message}; it has to be {invalidity}"


def test_a_wrong_judgement_is_seen() -> None:
    config = {"DEED": 5, "FROM": 0}
    assert judged(StoredTrial(config, "runtime", "the process ended with status 0")) == ""
    assert "has to be runtime" in judged(StoredTrial(config, "correct", "", 1.0))
    assert "has to be runtime" in judged(StoredTrial(config, "runtime", "ended by SIGSEGV"))


def test_hostile_candidates_are_failed_trials(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("DL_CPU_KERNEL_CACHE", str(tmp_path / "kernels"))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    database = Database(tmp_path / "trials.sqlite")
    others = {each.pid for each in below(os.getpid())}
    seen: list[StoredTrial] = []
    plan = Plan(
        Budget(evaluations=WANTED),
        "exhaustive",
        search_races=QUICK,
        final_races=QUICK,
        final_processes=1,
        evaluation_seconds=20.0,
    )
    tuner = Tuner(
        Target(KERNEL, "cpu", limits=LIMITS),
        database,
        plan,
        lambda trial, count: seen.append(trial),
    )
    tuned = tuner.run()
    assert {each.pid for each in below(os.getpid())} <= others
    trials = database.trials(tuned.study)
    assert trials == seen
    assert len(trials) == WANTED
    assert [each for each in map(judged, trials) if each] == []
    assert tuned.config == tuner.kernel.default
