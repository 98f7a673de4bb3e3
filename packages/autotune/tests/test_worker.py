"""Workers: whatever happens in them is an answer, and nothing of them is left."""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Iterator
from typing import Any

import pytest

import workers
from dl_autotune.runners.limits import Limits
from dl_autotune.runners.processes import below
from dl_autotune.runners.worker import Worker, WorkerError

LIMITS = Limits(memory=512 << 20, processes=32, printed=16 << 20, file=1 << 28)


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    with Worker(workers.obey, LIMITS) as made:
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
        (("leave", 0), 60, "crash", "ended with status 0"),
        (("print", 20), 60, "limit", "printed more than 16 MiB"),
        (("child", None), 60, "children", "left a process behind"),
        (("daemon", None), 60, "children", "left a process behind"),
        (("bomb", 40), 60, "limit", "started 4[0-9] processes, and 32 are allowed"),
        (("share", LIMITS.memory + (1 << 24)), 60, "limit", "of memory, and 512 MiB are allowed"),
        (("allocate", LIMITS.memory), 60, "error", "MemoryError"),
        (("close", None), 60, "crash", "its pipes were closed"),
        (("close_and_hang", None), 60, "crash", "closed its pipes and ran on"),
        (("scribble", b"x" * 100), 60, "crash", "something else than an answer"),
        (("write", LIMITS.file + 1), 60, "error", "File too large"),
        (("kill_parent", None), 60, "limit", "ended the process that guards"),
    ],
)
def test_a_failure_is_an_answer_and_the_next_call_works(
    worker: Worker, request_: Any, seconds: float, reason: str, message: str
) -> None:
    before = worker.call(("pid", None), 60)
    process = os.pidfd_open(before)
    with pytest.raises(WorkerError, match=message) as caught:
        worker.call(request_, seconds)
    assert caught.value.reason == reason
    # Readable once it has ended.
    assert select.select([process], [], [], 60)[0] == [process]
    os.close(process)
    assert worker.call(("pid", None), 60) != before
    # A guard and a worker, and nothing that an earlier worker started.
    assert len(below(os.getpid())) == 2


def test_what_a_worker_started_ends_with_it() -> None:
    with Worker(workers.obey, may_leave_children=True) as made:
        child = os.pidfd_open(made.call(("child", None), 60))
        assert select.select([child], [], [], 0)[0] == []
    try:
        # Readable once the process has ended.
        assert select.select([child], [], [], 60)[0] == [child]
    finally:
        os.close(child)


def test_a_copy_of_a_worker_does_not_answer(worker: Worker) -> None:
    """And it is seen, though it may have ended."""
    with pytest.raises(WorkerError, match="left a process behind"):
        worker.call(("fork", None), 60)
    assert worker.call(("echo", "next"), 60) == "next"


@pytest.mark.parametrize("mebibytes", [1, 16])
def test_a_worker_that_lacks_memory_to_start_says_how_much_to_give(mebibytes: int) -> None:
    limits = Limits(memory=mebibytes << 20)
    message = f"did not start within {mebibytes} MiB of memory: give it .* --memory [0-9]+ does"
    with Worker(workers.large, limits) as made, pytest.raises(WorkerError, match=message) as caught:
        made.call(("echo", 1), 60)
    assert caught.value.reason == "limit"


def test_little_memory_is_not_blamed_for_what_it_did_not_do() -> None:
    limits = Limits(memory=256 << 20)
    with Worker(workers.refuse, limits) as made, pytest.raises(WorkerError) as caught:
        made.call(("echo", 1), 60)
    assert str(caught.value) == "RuntimeError: there is no device"


def test_a_worker_that_cannot_begin_says_why() -> None:
    with Worker(workers.refuse) as made, pytest.raises(WorkerError, match="there is no device"):
        made.call(("echo", 1), 60)
