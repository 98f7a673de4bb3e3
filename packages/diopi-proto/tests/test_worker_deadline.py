"""Deadlines of workers, which notes renew."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

import pytest

from diopi_proto.worker import notes
from diopi_proto.worker.deadline import Deadline


@pytest.fixture
def file(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    monkeypatch.setattr(notes, "_current", None)
    descriptor = notes.notes_file()
    notes.write_notes_to(descriptor)
    yield descriptor
    os.close(descriptor)


def test_a_deadline_passes() -> None:
    start = time.monotonic()
    deadline = Deadline(10)
    assert 0 < deadline.remaining(start + 9) <= 2
    with pytest.raises(TimeoutError):
        deadline.remaining(start + 11 + (time.monotonic() - start))


def test_the_last_note_renews_a_deadline(file: int, monkeypatch: pytest.MonkeyPatch) -> None:
    start = time.monotonic()
    deadline = Deadline(10, file)
    monkeypatch.setattr(notes.time, "monotonic", lambda: start + 8)
    notes.note("step")
    assert deadline.remaining(start + 15) == pytest.approx(3, abs=1e-3)
    with pytest.raises(TimeoutError):
        deadline.remaining(start + 19)


@pytest.mark.parametrize("noted", [float("nan"), float("inf"), 1e300, -1.0, 0.0])
def test_a_forged_note_renews_nothing(
    file: int, noted: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = time.monotonic()
    deadline = Deadline(10, file)
    monkeypatch.setattr(notes.time, "monotonic", lambda: noted)
    notes.note("step")
    with pytest.raises(TimeoutError):
        deadline.remaining(start + 600)
