"""Two tuners on one device: unrelated processes are refused, ranks of a job wait for the result."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

import pytest

from dl_autotune.command import configure, run
from dl_autotune.errors import TuningError
from dl_autotune.runners.device_lock import DeviceLock

HOLDER = """
import sys
from dl_autotune.runners.device_lock import DeviceLock
with DeviceLock("cpu", 0) as lock:
    print("held", flush=True)
    for line in sys.stdin:
        lock.leave(*line.split())
        print("left", flush=True)
"""
Holder = subprocess.Popen[str]


@pytest.fixture
def holder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Holder]:
    """Start a process that holds the device until its input ends."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    pipe = subprocess.PIPE
    path = os.pathsep.join(filter(None, sys.path))
    environment = {**os.environ, "TMPDIR": str(tmp_path), "PYTHONPATH": path}
    command = [sys.executable, "-c", HOLDER]
    with subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, text=True) as process:
        assert _of(process.stdout).readline() == "held\n"
        yield process
        process.kill()


def _of(stream: IO[str] | None) -> IO[str]:
    assert stream is not None
    return stream


def leaves(holder: Holder, question: str, answer: str) -> None:
    _of(holder.stdin).write(f"{question} {answer}\n")
    _of(holder.stdin).flush()
    assert _of(holder.stdout).readline() == "left\n"


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], object]], None]:
    """Return a function that schedules a call for the moment when this process begins to wait."""
    monkeypatch.setenv("WORLD_SIZE", "2")

    def begin(then: Callable[[], object]) -> None:
        def warning(*_: object) -> None:
            then()

        monkeypatch.setattr("dl_autotune.runners.device_lock._log.warning", warning)

    return begin


def test_another_job_gets_the_process_that_holds_the_device(holder: Holder) -> None:
    with pytest.raises(TuningError, match=f"already being tuned by process {holder.pid}"):
        DeviceLock("cpu", 0).__enter__()
    with DeviceLock("cpu", 1):
        pass


def test_ranks_of_a_job_wait_and_pass_on_what_was_found(holder: Holder, waits: Any) -> None:
    leaves(holder, "mm", "openblas")
    waits(_of(holder.stdin).close)
    with DeviceLock("cpu", 0) as second:
        assert holder.wait() == 0
        assert (second.answer("mm"), second.answer("bmm")) == ("openblas", None)
    # A process that did not wait gets no answers: its user may want to measure again.
    with DeviceLock("cpu", 0) as third:
        assert third.answer("mm") is None


def test_results_of_a_killed_process_are_kept(holder: Holder, waits: Any) -> None:
    leaves(holder, "mm", "openblas")
    waits(holder.kill)
    with DeviceLock("cpu", 0) as second:
        assert second.answer("mm") == "openblas"


def test_partially_written_data_is_ignored(holder: Holder, waits: Any, tmp_path: Path) -> None:
    def end() -> None:
        (file,) = tmp_path.glob("*.lock")
        file.write_text(f'{holder.pid}\n{{"mm": "op')
        holder.kill()

    waits(end)
    with DeviceLock("cpu", 0) as second:
        assert second.answer("mm") is None


def tune(*words: str | Path) -> int:
    parser = argparse.ArgumentParser()
    configure(parser)
    return run(parser.parse_args(list(map(str, words))))


def test_a_rank_does_not_tune_its_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert tune("model", "--database", tmp_path / "d.sqlite", "--", "python", "train.py") == 2
    assert "dl tune model -- torchrun" in capsys.readouterr().err
