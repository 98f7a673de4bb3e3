"""Pool of workers that run cases: a crash or a hang ends only one case."""

from __future__ import annotations

import os
import queue
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from functools import partial
from typing import Any

from diopi_proto.worker import Failure, Worker, signal_name
from diopi_proto.worker import WorkerError as LostError

from .outcome import Outcome
from .target import Target
from .worker import LOST, NO_DEVICE, Cases, failed

STARTING = 120.0
"""Timeout in seconds for loading a library."""
ENDING = 60.0
"""Timeout in seconds for the end of a worker, which may write coverage counters then."""
SAID = 2000
"""Maximum length in characters of the reported output of a lost worker."""
ABORTING = 2.0
"""Timeout in seconds for a hanging worker to write its stack."""
FATAL = "Fatal Python error"
"""First words of faulthandler in the output of a worker."""

AFTERWARDS = "the device no longer works in this process: the next case runs in a new one"


class WorkerError(Exception):
    """A library cannot be loaded."""


class NoDeviceError(WorkerError):
    """A library has no device on which cases could run."""


def _describe_end(error: LostError, hang: str) -> str:
    """Return how a worker ended: by a signal, with a status, or not by itself.

    :param hang: the words for a worker that did not end.
    """
    if error.failure is Failure.CRASHED:
        return f"crash: {signal_name(error.signal)}"
    if error.status is not None:
        return f"the process ended with status {error.status}"
    if error.failure is Failure.GARBAGE:
        return "the library wrote to the pipe that carries the worker's results"
    return hang if error.failure in (Failure.TIMED_OUT, Failure.CLOSED) else str(error)


class CaseRunner:
    """Runner of one case at a time: it starts a new worker after one is lost.

    :param files: additional case files.
    """

    def __init__(
        self, target: Target, *, seconds: float, environ: dict[str, str], files: Sequence[str] = ()
    ) -> None:
        self.target = target
        self.seconds = seconds
        self.about: dict[str, Any] = {}
        self.worker = Worker(
            partial(Cases, target, [*files]),
            env=environ,
            json=True,
            exits=True,
            aborts=ABORTING,
        )

    def run(self, name: str) -> Outcome:
        """Run a case.

        :raises WorkerError: the library cannot be loaded.
        """
        if not self.worker.running:
            self.about = self._load()
        try:
            # A check reports each of its thousands of calls, and each report renews the deadline,
            # so that a check on a busy machine does not time out.
            answer = self.worker.call(name, self.seconds, renews=True)
        except LostError as error:
            how = _describe_end(error, f"hang: longer than {self.seconds:g} s")
            return failed(name, how, error.output[-SAID:].strip())
        lost = answer.pop(LOST)
        outcome = Outcome(**answer)
        if not lost:
            return outcome
        self.worker.stop(1.0)
        return replace(outcome, detail=f"{outcome.detail}\n{AFTERWARDS}".lstrip())

    def interrupt(self) -> None:
        """End the running case by ending its worker; may be called from another thread."""
        self.worker.kill()

    def leave(self) -> None:
        """End the worker."""
        self.worker.stop(ENDING)

    def _load(self) -> dict[str, Any]:
        try:
            about: dict[str, Any] = self.worker.call(None, STARTING)
        except LostError as error:
            # The Python stack after a crash is that of the suite, not of the library.
            words = error.output[-SAID:].partition(FATAL)[0].strip()
            crashed = f"{_describe_end(error, 'hang')} while the library was loaded"
            about = {"fatal": crashed + (f"; output: {words}" if words else "")}
        if "name" in about:
            return about
        self.worker.stop()
        if NO_DEVICE in about:
            raise NoDeviceError(f"{self.target.name} has no device here: {about[NO_DEVICE]}")
        raise WorkerError(f"{self.target.library} cannot be loaded: {about['fatal']}")


def worker_environ(threads: int) -> dict[str, str]:
    """Return the workers' environment; ``threads`` applies unless the user sets OMP_NUM_THREADS."""
    return {"OMP_NUM_THREADS": str(threads), **os.environ}


class Pool:
    """Runner of cases in several workers; it passes each outcome to a callback as it arrives.

    :param files: additional case files.
    """

    def __init__(
        self, target: Target, *, jobs: int, seconds: float, files: Sequence[str] = ()
    ) -> None:
        environ = worker_environ(1 if jobs > 1 else os.cpu_count() or 1)
        self._runners = [
            CaseRunner(target, seconds=seconds, environ=environ, files=files) for _ in range(jobs)
        ]
        self._idle: queue.SimpleQueue[CaseRunner] = queue.SimpleQueue()
        for runner in self._runners:
            self._idle.put(runner)

    @property
    def about(self) -> dict[str, Any]:
        """Description of the library; empty if no case was run."""
        return next((runner.about for runner in self._runners if runner.about), {})

    def run(self, names: Iterable[str], tell: Callable[[Outcome], None]) -> None:
        """Run the cases.

        :raises WorkerError: the library cannot be loaded.
        :raises KeyboardInterrupt: the user interrupted the run; all outcomes so far have been
            reported.
        """
        try:
            with ThreadPoolExecutor(len(self._runners)) as threads:
                try:
                    for case in as_completed([threads.submit(self._run, name) for name in names]):
                        tell(case.result())
                except BaseException:
                    threads.shutdown(wait=False, cancel_futures=True)
                    for runner in self._runners:
                        runner.interrupt()
                    raise
        finally:
            # At once, because a worker may need a long time to end.
            with ThreadPoolExecutor(len(self._runners)) as threads:
                list(threads.map(CaseRunner.leave, self._runners))

    def _run(self, name: str) -> Outcome:
        runner = self._idle.get()
        try:
            return runner.run(name)
        finally:
            self._idle.put(runner)
