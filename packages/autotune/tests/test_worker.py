"""Workers: whatever happens in them is an answer, and nothing of them is left."""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Iterator
from typing import Any

import pytest

import workers
from dl_autotune.runners.worker import Worker, WorkerError


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    with Worker(workers.obey) as made:
        yield made


def test_answers_come_back_from_one_process(worker: Worker) -> None:
    first = worker.call(("pid", None), 60)
    assert first != os.getpid()
    assert worker.call(("echo", [1, "two"]), 60) == [1, "two"]
    assert worker.call(("print", 4), 60) == "printed"
    assert worker.call(("pid", None), 60) == first


@pytest.mark.parametrize(
    ("request_", "seconds", "reason", "message"),
    [
        (("crash", signal.SIGSEGV), 60, "crash", "ended by SIGSEGV"),
        (("leave", 3), 60, "crash", "ended with status 3"),
        (("raise", "no good"), 60, "error", "ValueError: no good"),
        (("hang", None), 0.05, "timeout", r"no answer within 0\.05 s"),
    ],
)
def test_a_failure_is_an_answer_and_the_next_call_works(
    worker: Worker, request_: Any, seconds: float, reason: str, message: str
) -> None:
    before = worker.call(("pid", None), 60)
    with pytest.raises(WorkerError, match=message) as caught:
        worker.call(request_, seconds)
    assert caught.value.reason == reason
    assert worker.call(("pid", None), 60) != before


def test_what_a_worker_started_ends_with_it(worker: Worker) -> None:
    child = os.pidfd_open(worker.call(("child", None), 60))
    try:
        assert select.select([child], [], [], 0)[0] == []
        worker.stop()
        # Readable once the process has ended.
        assert select.select([child], [], [], 60)[0] == [child]
    finally:
        os.close(child)


def test_a_worker_that_cannot_begin_says_why() -> None:
    with Worker(workers.refuse) as made, pytest.raises(WorkerError, match="there is no device"):
        made.call(("echo", 1), 60)
