"""Whole runs on the CPU: failures are stored with a reason, fast candidates are claimed, and a
killed run can be continued."""

from __future__ import annotations

import argparse
import os
import select
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from diopi_proto.worker import below
from dl_autotune import KernelError, TuningError
from dl_autotune.command import _result, configure, run
from dl_autotune.observers import Calibration, RaceSettings, Verdict
from dl_autotune.runners.database import Database, StoredTrial
from dl_autotune.runners.device_lock import DeviceLock
from dl_autotune.runners.kernel_worker import Target
from dl_autotune.runners.tuner import Plan, Tuner
from dl_autotune.strategies import Budget

pytestmark = pytest.mark.skipif(
    not any(map(shutil.which, ("c++", "g++", "clang++"))), reason="needs a C++ compiler"
)
KERNEL = Path(__file__).parent / "kernels" / "twice.py"
QUICK = RaceSettings(looks=(4,), repeats=1, seconds=0.2)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder for locks and compiled kernels of these tests alone."""
    made = tmp_path_factory.mktemp("tuner")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(made))
        patch.setattr("tempfile.tempdir", str(made))
        patch.setenv("DL_CPU_KERNEL_CACHE", str(made / "kernels"))
        patch.setenv("OMP_NUM_THREADS", "1")
        yield made


def tuner(
    folder: Path, path: Path = KERNEL, evaluations: int = 10, strategy: str = "random"
) -> Tuner:
    plan = Plan(
        Budget(evaluations=evaluations),
        strategy,
        search_races=QUICK,
        final_races=QUICK,
        final_processes=2,
    )
    return Tuner(Target(path, "cpu", seed=3), Database(folder / "trials.sqlite"), plan)


@pytest.fixture(scope="module")
def trials(folder: Path) -> dict[object, StoredTrial]:
    """Return the trials of a run over all modes, by mode."""
    made = tuner(folder)
    tuned = made.run()
    assert tuned.evaluated == 6
    found = {each.config["MODE"]: each for each in made.database.trials(tuned.study)}
    assert tuned.config == {"MODE": 1}
    assert tuned.claim.interval.ratio > 3
    return found


@pytest.mark.parametrize(
    ("mode", "invalidity", "message"),
    [
        (2, "correctness", "b is wrong (count=1)"),
        (3, "runtime", "ended by SIGSEGV"),
        (4, "correctness", "writes outside of b (count=1)"),
        (5, "correctness", "changes its input a (count=1)"),
        (6, "compile", "mode 6 does not compile"),
    ],
)
def test_a_candidate_that_fails_is_kept_with_its_reason(
    trials: dict[object, StoredTrial], mode: int, invalidity: str, message: str
) -> None:
    trial = trials[mode]
    assert (trial.invalidity, trial.ratio, trial.candidate) == (invalidity, None, ())
    assert message in trial.message


def test_a_candidate_that_is_right_has_its_raw_times(trials: dict[object, StoredTrial]) -> None:
    trial = trials[1]
    assert trial.invalidity == "correct"
    assert len(trial.candidate) == len(trial.baseline) == 4
    assert min(trial.candidate) > 0


def test_a_second_run_measures_nothing(
    folder: Path, trials: dict[object, StoredTrial], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert trials
    made = tuner(folder)
    monkeypatch.setattr(made, "_search", lambda *_: pytest.fail("it searched again"))
    again = made.run()
    assert again.reused
    assert again.config == {"MODE": 1}


def test_two_tuners_do_not_share_a_device(folder: Path) -> None:
    with (
        DeviceLock("cpu", 0),
        pytest.raises(TuningError, match=f"already being tuned by process {os.getpid()}"),
    ):
        tuner(folder).run()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('default={"MODE": 0}', 'default={"MODE": 2}', r"default {'MODE': 2} is wrong: b is wrong"),
        ('default={"MODE": 0}', 'default={"MODE": 6}', r"{'MODE': 6} does not compile"),
        (
            'default={"MODE": 0}',
            'default={"MODE": 3}',
            r"default {'MODE': 3} cannot be run: .*SEGV",
        ),
        ('default={"MODE": 0}', 'default={"MODE": 9}', r"default {'MODE': 9} is not a valid"),
        ('"MODE": range', '"OTHER": range', r"twice\.cpp: key OTHER has no marker"),
        ("range(7)", "[]", "there are no values"),
        ('outputs=["b"]', "outputs=[]", "no output is named"),
        ('"b": Exp', '"c": Exp', "the reference gives c, and the outputs are b"),
        ('["a"]', '["none"]', "the reference failed: KeyError"),
        ('"twice.cpp"', '"nowhere.cpp"', r"nowhere\.cpp cannot be read"),
        ("kernel = Tun", "other = Tun", "has no variable 'kernel'"),
        ("import numpy", "import nothing_of_this_name", "nothing_of_this_name"),
    ],
)
def test_a_description_that_is_wrong_is_refused(
    folder: Path, tmp_path: Path, old: str, new: str, message: str
) -> None:
    text = KERNEL.read_text()
    assert old in text
    (tmp_path / "twice.py").write_text(text.replace(old, new))
    shutil.copy(KERNEL.with_suffix(".cpp"), tmp_path)
    with pytest.raises((KernelError, TuningError), match=message):
        tuner(tmp_path, tmp_path / "twice.py").run()


def test_an_unknown_strategy_is_refused_before_compilation(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = tuner(tmp_path, strategy="magic")
    monkeypatch.setattr(made, "_compiled", lambda *_: pytest.fail("it compiled"))
    with pytest.raises(
        TuningError, match="strategy 'magic' is unknown; available: exhaustive, random"
    ):
        made.run()


def test_an_unknown_strategy_is_refused_for_a_reused_study(
    folder: Path, trials: dict[object, StoredTrial]
) -> None:
    assert trials
    for name in ("magic", "kernel-tuner:magic"):
        with pytest.raises(TuningError, match=name):
            tuner(folder, strategy=name).run()


def test_a_strategy_with_a_thread_leaves_none_behind(folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("kernel_tuner", reason="needs kernel_tuner, which is an extra")
    threads = threading.active_count()
    made = tuner(tmp_path, strategy="kernel-tuner:greedy_mls")
    tuned = made.run()
    assert (tuned.evaluated, tuned.config) == (6, {"MODE": 1})
    assert threading.active_count() == threads
    # The thread ends even if the search ends early.
    interrupted = tuner(tmp_path / "other", strategy="kernel-tuner:greedy_mls")

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    interrupted._progress = stop
    with pytest.raises(KeyboardInterrupt):
        interrupted.run()
    assert threading.active_count() == threads


def test_an_unknown_vendor_is_named(folder: Path) -> None:
    made = Tuner(Target(KERNEL, "unknown"), Database(folder / "other.sqlite"))
    with pytest.raises(
        TuningError, match=r"unknown vendor unknown; the installed vendors are .*cpu"
    ):
        made.run()


def test_a_killed_run_can_be_resumed(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "trials.sqlite"
    command = [
        *(sys.executable, "-m", "dl_autotune", "kernel", str(KERNEL), "--database", str(path)),
        *("--strategy", "exhaustive", "--evaluations", "6", "--workers", "1"),
        *("--processes", "4"),
    ]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    # The first candidate is the best so far, and is reported when it is stored.
    lines = iter(process.stderr.readline, "")
    told = [line for line in (next(lines), next(lines)) if line]
    workers = [os.pidfd_open(each.pid) for each in below(process.pid)]
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stderr.close()
    assert "7 configurations" in told[0] and "MODE=1" in told[1]
    assert workers
    for worker in workers:
        assert select.select([worker], [], [], 60)[0] == [worker]
        os.close(worker)
    database = Database(path)
    (study,) = database.studies()
    before = database.trials(study)
    assert before[0].config == {"MODE": 1}
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    after = database.trials(study)
    assert after[: len(before)] == before
    assert [trial.config["MODE"] for trial in after] == [1, 2, 3, 4, 5, 6]
    assert "verdict faster: " in done.stdout
    assert "failed: 3 correctness, 1 runtime, 1 compile" in done.stdout
    shown = subprocess.run(
        [*command[:3], "show", study.key[:4], "--database", str(path)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "twice.cpp:twice (count=20000) on cpu" in shown.stdout
    assert "compile: " in shown.stdout
    forgotten = subprocess.run(
        [*command[:3], "forget", study.key, "--database", str(path)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert forgotten.stdout == f"forgot {study.key} with 6 trials\n"
    assert database.studies() == []


def test_nothing_is_claimed_of_a_winner_that_fails_when_it_is_raced_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    made = tuner(tmp_path)
    database = made.database
    study = database.study({"kernel": "twice.cpp"})
    database.record(study, StoredTrial({"MODE": 1}, "correct", "", 5.0, 4.0, 6.0, (5.0,), (1.0,)))
    monkeypatch.setattr(made, "_race_again", lambda *_: [])
    pool, calibration = None, Calibration(0.0, 1)
    found = made._claim(study, pool, b"", calibration)  # type: ignore[arg-type]
    assert found.claim.verdict is Verdict.NO_WINNER
    assert found.config == {"MODE": 0}
    claimed = database.claimed(study)
    assert claimed is not None and claimed.verdict == "no significant winner"
    assert found.finalists == 1
    assert "(the fastest candidate failed when it was raced again)" in _result(
        found, made.kernel.default, database
    )


def test_a_report_states_that_nothing_was_raced_again(folder: Path, tmp_path: Path) -> None:
    made = tuner(tmp_path)
    study = made.database.study({"kernel": "twice.cpp"})
    made.database.record(study, StoredTrial({"MODE": 1}, "correct", "", 0.5, 0.4, 0.6))
    found = made._claim(study, None, b"", Calibration(0.0, 1))  # type: ignore[arg-type]
    said = _result(found, made.kernel.default, made.database)
    assert "(no candidate beat the default, so none was raced again)" in said


def test_a_candidate_that_hangs_is_given_up_at_its_limit(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = KERNEL.with_suffix(".cpp").read_text()
    shutil.copy(KERNEL, tmp_path)
    hangs = source.replace(
        "if (MODE == 3)", 'if (MODE == 3) while (count >= 0) asm volatile("");\n  if (MODE == 3)'
    )
    assert hangs != source
    (tmp_path / "twice.cpp").write_text(hangs)
    path = tmp_path / "t.sqlite"
    words = [str(tmp_path / "twice.py"), "--database", str(path), "--evaluations", "6"]
    parser = argparse.ArgumentParser()
    configure(parser)
    arguments = parser.parse_args(["kernel", *words, "--limit", "4", "--processes", "2"])
    assert run(arguments) == 0, capsys.readouterr().err
    database = Database(path)
    (study,) = database.studies()
    (trial,) = (each for each in database.trials(study) if each.config == {"MODE": 3})
    assert trial.invalidity == "timeout"
    assert trial.message == "no answer within 4 s, its timeout, which --limit sets"
