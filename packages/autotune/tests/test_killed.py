"""A tuner that is killed at any moment loses at most the current evaluation, and leaves no process.

One moment is tried each time; DL_TEST_SAMPLE=1 tries twenty.
"""

from __future__ import annotations

import contextlib
import os
import random
import select
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from diopi_proto.worker import below
from dl_autotune.runners.database import Database

pytestmark = pytest.mark.skipif(
    not any(map(shutil.which, ("c++", "g++", "clang++"))), reason="needs a C++ compiler"
)
KERNEL = Path(__file__).parent / "kernels" / "logged.py"
KILLS = 20 if os.environ.get("DL_TEST_SAMPLE") == "1" else 1
LONGEST = 8.0
"""Maximum delay of the kill in seconds: a start takes two, an evaluation less than one."""


def begun(log: Path) -> list[str]:
    """Return the candidates that were started, in order, with repetitions."""
    return log.read_text().splitlines() if log.exists() else []


def test_a_killed_tuner_loses_at_most_one_evaluation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, path = tmp_path / "log", tmp_path / "trials.sqlite"
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("DL_CPU_KERNEL_CACHE", str(tmp_path / "kernels"))
    monkeypatch.setenv("DL_TEST_LOG", str(log))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    command = [
        *(sys.executable, "-m", "dl_autotune", "kernel", str(KERNEL), "--database", str(path)),
        *("--strategy", "exhaustive", "--workers", "1", "--processes", "2", "--evaluations", "500"),
    ]
    rng = random.Random(20)
    kept: list[str] = []
    for _ in range(KILLS):
        before = len(begun(log))
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            process.wait(rng.uniform(0.0, LONGEST))
        except subprocess.TimeoutExpired:
            started = []
            for each in below(process.pid):
                # Compilers come and go.
                with contextlib.suppress(ProcessLookupError):
                    started.append(os.pidfd_open(each.pid))
            process.kill()
            process.wait()
        else:
            pytest.fail(f"it ended by itself with status {process.returncode}")
        for file in started:
            # Readable once the process has ended.
            assert select.select([file], [], [], 60)[0] == [file]
            os.close(file)
        database = Database(path)
        trials = [t for study in database.studies() for t in database.trials(study)]
        database.close()
        now = [str(trial.config["NUMBER"]) for trial in trials]
        assert now[: len(kept)] == kept, "a trial that was kept is gone"
        assert {trial.invalidity for trial in trials} <= {"correct"}
        lost = set(begun(log)[before:]) - set(now)
        assert len(lost) <= 1, f"{lost} were begun and are not kept"
        kept = now
    assert len(set(kept)) == len(kept)
    # Lost trials were repeated: only the last one may be missing.
    missing = set(begun(log)) - set(kept)
    assert len(missing) <= 1, f"{missing} were not tried again"
    # Otherwise the test would prove nothing.
    assert len(kept) >= KILLS // 2
