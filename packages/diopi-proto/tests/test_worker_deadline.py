"""Deadlines of workers, which notes renew and a busy machine extends."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from diopi_proto.worker import deadline, notes
from diopi_proto.worker.deadline import Deadline
from diopi_proto.worker.processes import waiting_times


@pytest.fixture
def file(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    monkeypatch.setattr(notes, "_current", None)
    descriptor = notes.notes_file()
    notes.write_notes_to(descriptor)
    yield descriptor
    os.close(descriptor)


def test_a_deadline_passes() -> None:
    start = time.monotonic()
    found = Deadline(10)
    assert 0 < found.remaining(start + 9) <= 2
    with pytest.raises(TimeoutError):
        found.remaining(start + 11 + (time.monotonic() - start))


def test_the_last_note_renews_a_deadline(file: int, monkeypatch: pytest.MonkeyPatch) -> None:
    start = time.monotonic()
    found = Deadline(10, file)
    monkeypatch.setattr(notes.time, "monotonic", lambda: start + 8)
    notes.note("step")
    assert found.remaining(start + 15) == pytest.approx(3, abs=1e-3)
    with pytest.raises(TimeoutError):
        found.remaining(start + 19)


@pytest.mark.parametrize("noted", [float("nan"), float("inf"), 1e300, -1.0, 0.0])
def test_a_forged_note_renews_nothing(
    file: int, noted: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = time.monotonic()
    found = Deadline(10, file)
    monkeypatch.setattr(notes.time, "monotonic", lambda: noted)
    notes.note("step")
    with pytest.raises(TimeoutError):
        found.remaining(start + 600)


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    """Waiting times of the threads of process 7."""
    times = {"7": 100.0}
    monkeypatch.setattr(deadline, "waiting_times", lambda pid: dict(times) if pid == 7 else {})
    return times


def test_waiting_for_a_processor_extends_a_deadline(waits: dict[str, float]) -> None:
    start = time.monotonic()
    found = Deadline(10, pid=7)
    # A new thread and an old one that waited less: only the one that waited longest counts.
    waits.update({"7": 103.0, "8": 6.0})
    assert found.remaining(start + 12) == pytest.approx(4, abs=1e-3)
    with pytest.raises(TimeoutError):
        found.remaining(start + 17)


def test_a_process_that_sleeps_has_no_extension(waits: dict[str, float]) -> None:
    start = time.monotonic()
    found = Deadline(10, pid=7)
    assert waits == {"7": 100.0}
    with pytest.raises(TimeoutError):
        found.remaining(start + 11)


def test_the_extension_is_limited(waits: dict[str, float]) -> None:
    start = time.monotonic()
    found = Deadline(10, pid=7)
    waits["7"] = 1e9
    assert found.remaining(start + 12) == pytest.approx(98, abs=1e-3)
    with pytest.raises(TimeoutError):
        found.remaining(start + 111)


def test_threads_that_share_a_processor_wait() -> None:
    mask = os.sched_getaffinity(0)
    child = os.fork()
    if child == 0:  # both spin on one processor until this process has waited
        os.sched_setaffinity(0, {min(mask)})
        while True:
            pass
    try:
        os.sched_setaffinity(0, {min(mask)})
        before = waiting_times(os.getpid()).get(str(os.getpid()), 0)
        if not Path("/proc/self/schedstat").exists():
            pytest.skip("this kernel does not count waiting times")
        while waiting_times(os.getpid())[str(os.getpid())] <= before:
            pass
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.sched_setaffinity(0, mask)


def test_an_ended_process_has_no_waiting_times() -> None:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    assert waiting_times(child) == {}
