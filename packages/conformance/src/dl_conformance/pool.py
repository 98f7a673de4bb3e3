"""Workers that run cases, one thread here for each: a crash or a hang ends one case."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import IO

from .checks.check import is_check
from .execute import Outcome
from .target import Target

STARTING = 120.0
"""Seconds that loading a library may take."""
ENDING = 60.0
"""Seconds that its end may take: coverage's counters are written then."""
SAID = 2000
"""Characters kept of what a worker left behind."""
STRAY: dict[str, object] = {"stray": True}
"""For an answer that a worker of ours does not give: the library wrote to where answers go."""

FATAL = "Fatal Python error"
"""Where faulthandler begins in what a worker left behind."""

LOST = "device lost"
"""In an answer: whether the device worked when the worker started, and not after this case."""
NO_DEVICE = "no device"
"""In the first answer: why the library has none."""
AFTERWARDS = "the device works no more in this process: the next case gets another one"


class WorkerError(Exception):
    """A library could not even be loaded."""


class NoDeviceError(WorkerError):
    """A library has no device here, on which cases could run."""


class Worker:
    """One process, which loads the library when it starts."""

    def __init__(self, target: Target, environ: dict[str, str], files: Sequence[str]) -> None:
        self.said: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - as long as the worker
        there, self.outgoing = os.pipe()
        self.incoming, back = os.pipe()
        command = [sys.executable, "-m", "dl_conformance.worker", str(there), str(back)]
        self.process = subprocess.Popen(
            command,
            pass_fds=(there, back),
            stdin=subprocess.DEVNULL,
            stdout=self.said,
            stderr=self.said,
            env=environ,
            # Whoever interrupts the run does not interrupt cases: the run ends them.
            start_new_session=True,
        )
        os.close(there)
        os.close(back)
        self.pending = b""
        self._send({"target": target.as_dict(), "files": [*files]})

    def _send(self, message: object) -> None:
        with contextlib.suppress(BrokenPipeError):
            os.write(self.outgoing, json.dumps(message).encode() + b"\n")

    def receive(self, seconds: float) -> dict[str, object] | None:
        """The next line; None where the worker ended or takes longer."""
        deadline = time.monotonic() + seconds
        while b"\n" not in self.pending:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.incoming], [], [], left)[0]:
                return None
            piece = os.read(self.incoming, 1 << 16)
            if not piece:
                return None
            self.pending += piece
        line, _, self.pending = self.pending.partition(b"\n")
        try:
            answer: object = json.loads(line)
        except ValueError:
            return STRAY
        return answer if isinstance(answer, dict) else STRAY

    def run(self, name: str, seconds: float) -> dict[str, object] | None:
        self._send(name)
        return self.receive(seconds)

    def end(self, seconds: float = 1.0) -> str:
        """End it, and say how it ended: by a signal, with a status, or not by itself.

        :param seconds: that it has to end by itself.
        """
        os.close(self.outgoing)
        hung = False
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            hung = True
            # Python's stack is written to where the worker speaks.
            self.process.send_signal(signal.SIGABRT)
            try:
                self.process.wait(2)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        os.close(self.incoming)
        code = self.process.returncode
        if hung:
            return "hang"
        if code < 0:
            return f"crash: {signal_name(-code)}"
        return f"the process ended with status {code}"

    def last_words(self) -> str:
        self.said.seek(0)
        text = self.said.read().decode(errors="replace")
        self.said.close()
        return text[-SAID:].strip()


def signal_name(number: int) -> str:
    """Of a signal; those of real time have no names."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def failed(name: str, cause: str, detail: str) -> Outcome:
    """What became of a case that did not come to its end."""
    operator, _, rest = name.partition("[")
    dtype = "" if is_check(name) else rest.rstrip("]").partition("-")[0]
    return Outcome(name, operator, dtype, "failed", cause, detail)


def _outcome(answer: dict[str, object], name: str) -> Outcome | None:
    """None for an answer to something else."""
    try:
        outcome = Outcome(**answer)  # type: ignore[arg-type]
    except TypeError:
        return None
    return outcome if outcome.name == name else None


class Seat:
    """Where one case after another runs: a worker, and the next one where that was lost.

    :param files: with cases besides those of the suite.
    """

    def __init__(
        self, target: Target, *, seconds: float, environ: dict[str, str], files: Sequence[str] = ()
    ) -> None:
        self.target = target
        self.files = files
        self.seconds = seconds
        self.environ = environ
        self.about: dict[str, object] = {}
        self.worker: Worker | None = None

    def run(self, name: str) -> Outcome:
        """Run a case.

        :raises WorkerError: the library cannot be loaded.
        """
        worker = self.worker = self.worker or self._started()
        answer = worker.run(name, self.seconds)
        lost = answer is not None and answer.pop(LOST, False)
        outcome = None if answer is None else _outcome(answer, name)
        if outcome is not None and not lost:
            return outcome
        self.worker = None
        how = worker.end()
        if outcome is not None:
            worker.said.close()
            return replace(outcome, detail=f"{outcome.detail}\n{AFTERWARDS}".lstrip())
        if answer is not None:
            how = "the library writes to where its worker answers"
        elif how == "hang":
            how = f"hang: longer than {self.seconds:g} s"
        return failed(name, how, worker.last_words())

    def interrupt(self) -> None:
        """From another thread: end the case that runs, by ending its worker."""
        worker = self.worker
        if worker is not None:
            worker.process.kill()

    def leave(self) -> None:
        """End the worker."""
        if self.worker is not None:
            self.worker.end(ENDING)
            self.worker.said.close()
            self.worker = None

    def _started(self) -> Worker:
        worker = Worker(self.target, self.environ, self.files)
        hello = worker.receive(STARTING)
        if hello is None or "name" not in hello:
            how = worker.end()
            # The stack of Python behind a crash is that of this suite, not of the library.
            words = worker.last_words().partition(FATAL)[0].strip()
            crashed = f"{how} while it was loaded" + (f"; it said: {words}" if words else "")
            said = hello["fatal"] if hello and "fatal" in hello else crashed
            worker.said.close()
            if hello and NO_DEVICE in hello:
                raise NoDeviceError(f"{self.target.name} has no device here: {hello[NO_DEVICE]}")
            raise WorkerError(f"{self.target.library} cannot be loaded: {said}")
        self.about = hello
        return worker


def worker_environ(threads: int) -> dict[str, str]:
    """The environment of workers, each of which has so many threads unless the user says."""
    return {"OMP_NUM_THREADS": str(threads), **os.environ}


class Pool:
    """Runs cases in several seats and gives each outcome to a function, as it comes.

    :param files: with cases besides those of the suite.
    """

    def __init__(
        self, target: Target, *, jobs: int, seconds: float, files: Sequence[str] = ()
    ) -> None:
        self.target = target
        self.files = files
        self.jobs = jobs
        self.seconds = seconds
        self.about: dict[str, object] = {}
        self.problems: list[WorkerError] = []
        self.stopped = False
        self.seats: list[Seat] = []
        self.environ = worker_environ(1 if jobs > 1 else os.cpu_count() or 1)

    def run(self, names: Iterable[str], tell: Callable[[Outcome], None]) -> None:
        """Run the cases.

        :raises WorkerError: the library cannot be loaded, or a case has no outcome.
        :raises KeyboardInterrupt: the user ended it; outcomes until then have been told.
        """
        waiting: queue.SimpleQueue[str] = queue.SimpleQueue()
        left: set[str] = set()
        for name in names:
            waiting.put(name)
            left.add(name)
        if not left:
            return
        lock = threading.Lock()

        def locked(outcome: Outcome) -> None:
            with lock:
                left.discard(outcome.name)
                tell(outcome)

        threads = [
            threading.Thread(target=self._serve, args=(waiting, locked))
            for _ in range(min(self.jobs, len(left)))
        ]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                thread.join()
        except KeyboardInterrupt:
            self.stopped = True
            for seat in [*self.seats]:
                seat.interrupt()
            for thread in threads:
                thread.join()
            raise
        if self.problems:
            raise self.problems[0]
        if left:
            raise WorkerError(f"{len(left)} cases were lost, such as {min(left)}")

    def _serve(self, waiting: queue.SimpleQueue[str], tell: Callable[[Outcome], None]) -> None:
        seat = Seat(self.target, seconds=self.seconds, environ=self.environ, files=self.files)
        self.seats.append(seat)
        try:
            while not self.problems and not self.stopped:
                outcome = seat.run(waiting.get_nowait())
                # What ends now was ended by the interruption.
                if not self.stopped:
                    tell(outcome)
        except queue.Empty:
            pass
        except WorkerError as error:
            self.problems.append(error)
        except Exception as error:  # noqa: BLE001 - raised by run(), in the thread that waits
            self.problems.append(WorkerError(f"error of the suite: {error!r}"))
        self.about = seat.about or self.about
        seat.leave()
