"""Faults of workers: each becomes a typed outcome, and no process is left."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import misbehaving
from diopi_proto.worker import (
    Failure,
    Limits,
    Worker,
    WorkerError,
    below,
    kill_group,
    run_command,
)
from diopi_proto.worker.forks import ForkServer, receive

LIMITS = Limits(memory=512 << 20, processes=32, printed=16 << 20, file=1 << 28, core=0)
LARGEST = 1 << 24
HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    with Worker(misbehaving.obey, LIMITS, forbids_children=True, largest=LARGEST) as made:
        yield made


def descriptors() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def has_ended(process: int) -> bool:
    """Wait for the end of a process, given as a pidfd, and close the descriptor."""
    try:
        return select.select([process], [], [], 60)[0] == [process]
    finally:
        os.close(process)


def test_answers_come_back_from_one_process(worker: Worker) -> None:
    first = worker.call(("pid", None), 60)
    assert first == worker.pid != os.getpid()
    assert worker.call(("echo", [1, "two"]), 60) == [1, "two"]
    assert worker.call(("print", 4), 60) == "printed"
    assert worker.call(("pid", None), 60) == first


@pytest.mark.parametrize(
    ("request_", "seconds", "failure", "message"),
    [
        (("crash", signal.SIGSEGV), 60, Failure.CRASHED, "ended by SIGSEGV"),
        (("crash", signal.SIGRTMIN + 5), 60, Failure.CRASHED, "ended by signal"),
        (("leave", 3), 60, Failure.EXITED, "ended with status 3"),
        (("leave", 0), 60, Failure.EXITED, "ended with status 0"),
        (("raise", "no good"), 60, Failure.RAISED, "ValueError: no good"),
        (("hang", None), 0.05, Failure.TIMED_OUT, r"no answer within 0\.05 s"),
        (("stubborn", None), 0.05, Failure.TIMED_OUT, r"no answer within 0\.05 s"),
        (("print", 20), 60, Failure.OVER_LIMIT, "printed more than 16 MiB"),
        (("child", None), 60, Failure.LEFT_CHILDREN, "left a process behind"),
        (("daemon", None), 60, Failure.LEFT_CHILDREN, "left a process behind"),
        (("bomb", 40), 60, Failure.OVER_LIMIT, "started 4[0-9] processes, but only 32"),
        (
            ("share", 528 << 20),
            60,
            Failure.OUT_OF_MEMORY,
            "of memory, but only 512 MiB are allowed",
        ),
        (("allocate", 512 << 20), 60, Failure.OUT_OF_MEMORY, "MemoryError"),
        (("close", None), 60, Failure.CLOSED, "its pipes were closed"),
        (("close_and_hang", None), 60, Failure.CLOSED, "closed its pipes and ran on"),
        (("scribble", b"x" * 100), 60, Failure.GARBAGE, "something else than an answer"),
        (("write", (1 << 28) + 1), 60, Failure.RAISED, "File too large"),
        (("allocate_and_return", 1 << 25), 60, Failure.RAISED, "the limit is 16777216"),
        (("lock", None), 60, Failure.RAISED, "cannot pickle"),
        (("kill_parent", None), 60, Failure.OVER_LIMIT, "its guard process was killed"),
    ],
)
def test_a_failure_is_an_outcome_and_the_next_call_works(
    worker: Worker, request_: Any, seconds: float, failure: Failure, message: str
) -> None:
    before = worker.call(("pid", None), 60)
    process, open_ = os.pidfd_open(before), descriptors()
    with pytest.raises(WorkerError, match=message) as caught:
        worker.call(request_, seconds)
    assert caught.value.failure is failure
    assert has_ended(process)
    assert not below(os.getpid())
    assert worker.call(("pid", None), 60) != before
    assert len(below(os.getpid())) == 2, "a guard and a worker, and nothing of earlier ones"
    assert descriptors() == open_ - 1


def test_a_failure_has_its_facts() -> None:
    with Worker(misbehaving.obey) as made:
        with pytest.raises(WorkerError) as caught:
            made.call(("crash", signal.SIGKILL), 60)
        assert (caught.value.signal, caught.value.status) == (signal.SIGKILL, None)
        assert caught.value.peak > 1 << 20
        made.call(("print", 1), 60)
        with pytest.raises(WorkerError) as caught:
            made.call(("leave", 3), 60)
        assert (caught.value.signal, caught.value.status) == (0, 3)
        assert caught.value.output.endswith("x" * 100 + "y")
        assert len(caught.value.output) < 1 << 18
        with pytest.raises(WorkerError) as caught:
            made.call(("hang", None), 0.2)
        assert caught.value.note == "about to hang"


def test_a_deadline_may_be_that_of_each_note() -> None:
    # The deadline is 20 notes long, because a busy machine may suspend the worker.
    with Worker(misbehaving.obey) as made:
        assert made.call(("notes", 30), 2, renews=True) == "done"
        with pytest.raises(WorkerError, match="no answer within 2 s") as caught:
            made.call(("notes", 10**6), 2)
        assert caught.value.note.startswith("step ")


def test_a_worker_that_is_aborted_writes_its_stack() -> None:
    with Worker(misbehaving.traced, aborts=10) as made:
        with pytest.raises(WorkerError) as caught:
            made.call(("hang", None), 0.5)
        assert "Fatal Python error: Aborted" in caught.value.output
        assert "misbehaving.py" in caught.value.output


def test_a_worker_that_exits_does_what_is_registered(tmp_path: Path) -> None:
    with Worker(misbehaving.registered, exits=True) as made:
        made.call(str(tmp_path / "left"), 60)
        made.stop(60)
    assert (tmp_path / "left").exists()


def test_answers_as_json_cannot_run_code() -> None:
    with Worker(misbehaving.obey, json=True) as made:
        assert made.call(("echo", ["a", None]), 60) == ["a", None]
        with pytest.raises(WorkerError, match="not JSON serializable") as caught:
            made.call(("echo", b"bytes"), 60)
        assert caught.value.failure is Failure.RAISED


def test_what_a_worker_writes_is_heard() -> None:
    heard = bytearray()
    with Worker(misbehaving.obey, hear=heard.extend) as made:
        made.call(("print", 2), 60)
        made.stop()
    assert heard.count(b"x") > 1 << 20


def test_what_a_worker_started_ends_with_it() -> None:
    with Worker(misbehaving.obey) as made:
        child = os.pidfd_open(made.call(("child", None), 60))
        assert select.select([child], [], [], 0)[0] == []
    assert has_ended(child)


def test_a_copy_of_a_worker_does_not_answer(worker: Worker) -> None:
    """A child process is detected even if it may have ended."""
    with pytest.raises(WorkerError, match="left a process behind"):
        worker.call(("fork", None), 60)
    assert worker.call(("echo", "next"), 60) == "next"


def test_a_worker_that_cannot_begin_says_why() -> None:
    with (
        Worker(misbehaving.refuse) as made,
        pytest.raises(WorkerError, match="RuntimeError: there"),
    ):
        made.call(("echo", 1), 60)
    bare = (RuntimeError,)
    with Worker(misbehaving.refuse, bare=bare) as made, pytest.raises(WorkerError, match=r"^there"):
        made.start()


PARENTS = {
    "worker": """
import sys
import misbehaving
from diopi_proto.worker import Worker
with Worker(misbehaving.obey) as worker:
    for deed in ("pid", "child"):
        print(worker.call((deed, None), 60), file=sys.stderr, flush=True)
    worker.call(("stubborn", None), 600)
""",
    # The second process has a session of its own, and its parent has ended.
    "program": """
from diopi_proto.worker import run_command
run_command(["sh", "-c", "(setsid sh -c 'echo $$ >&2; exec sleep 600' &); echo $$ >&2; sleep 600"])
""",
}


@pytest.mark.parametrize("kind", PARENTS)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_both_kinds_end_with_their_parent(kind: str, number: int) -> None:
    path = os.pathsep.join([str(HERE), *filter(None, sys.path)])
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENTS[kind]],
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": path},
    )
    with parent:
        assert parent.stderr is not None
        children = [os.pidfd_open(int(parent.stderr.readline())) for _ in range(2)]
        assert select.select(children, [], [], 0)[0] == []
        parent.send_signal(number)
        assert all(map(has_ended, children))
        parent.stderr.read()
    assert parent.returncode == -number


def test_another_thread_may_end_a_call() -> None:
    with Worker(misbehaving.obey) as made:
        made.start()
        timer = misbehaving.threading.Timer(0.2, made.kill)
        timer.start()
        with pytest.raises(WorkerError):
            made.call(("stubborn", None), 60)
        timer.join()


def test_a_program_leaves_nothing(tmp_path: Path) -> None:
    before = {each.pid for each in below(os.getpid())}

    def find_new() -> set[int]:
        return {each.pid for each in below(os.getpid())} - before

    code = "import os; os.fork() or (os.setsid(), os.execlp('sleep', 'sleep', '1000'))"
    done = run_command([sys.executable, "-c", f"{code}; print('said'); raise SystemExit(3)"])
    assert (done.status, done.output) == (3, "said\n")
    assert not find_new()
    begin = time.monotonic()
    with pytest.raises(WorkerError, match=r"sh did not end within 0\.3 s") as caught:
        run_command(["sh", "-c", "trap '' INT TERM; sleep 1000 & sleep 1000"], seconds=0.3)
    assert caught.value.failure is Failure.TIMED_OUT
    assert time.monotonic() - begin < 30
    assert not find_new()
    merged = run_command(["sh", "-c", "echo out; echo error >&2"], merge_errors=True)
    assert merged.output == "out\nerror\n"
    with pytest.raises(OSError, match="No such file"):
        run_command([str(tmp_path / "none")])


SERVER = """
import os, sys, time
from diopi_proto.worker.forks import serve_forks
request = serve_forks(int(sys.argv[1]), lambda x: {"told": x["ask"]} if "ask" in x else None)
if request["do"] == "sleep":
    time.sleep(1000)
os.kill(os.getpid(), request["do"]) if request["do"] else sys.exit(3)
"""


def test_forks_of_a_warm_server(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with (tmp_path / "log").open("wb") as log:
        command = [sys.executable, "-c", SERVER, None]
        server = ForkServer(command, env=environment, output=log)
    answer, connection = server.ask({"ask": 7}, 60)
    with connection:
        assert answer == {"told": 7}
    for deed, status in ((0, 3), (signal.SIGSEGV, 128 + signal.SIGSEGV)):
        with server.ask({"do": deed}, 60)[1] as run:
            assert receive(run, 60) == status
    (first, run), (second, other) = (server.ask({"do": "sleep"}, 60) for _ in range(2))
    with run, other:
        with pytest.raises(TimeoutError):
            receive(run, 0.1)
        kill_group(first)
        assert receive(run, 60) == 128 + signal.SIGKILL
        left = os.pidfd_open(second)
        server.close()
        assert has_ended(left)
        with pytest.raises(EOFError):
            receive(other, 60)


def test_workers_take_no_part_in_start_up() -> None:
    code = textwrap.dedent("""
        import sys, diopi_proto.worker
        assert not {"numpy", "torch", "cffi"} & set(sys.modules)
    """)
    subprocess.run([sys.executable, "-c", code], check=True)
