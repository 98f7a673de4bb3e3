"""Candidates compiled ahead, each thread with a worker process of its own."""

from __future__ import annotations

import queue
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial

from ..spaces import Config
from .kernel_worker import Compile, KernelWorker, Rejected, Target
from .worker import Worker, WorkerError

_GRACE_SECONDS = 30.0
"""Beyond the compiler's own limit, after which the whole process is given up."""


class CompilePool:
    """Compiles while candidates are measured.

    :param workers: processes; each runs one compiler at a time.
    """

    def __init__(self, target: Target, workers: int) -> None:
        self._seconds = target.compile_seconds + _GRACE_SECONDS
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix="compile")
        self._all = [
            Worker(partial(KernelWorker, target), target.limits, may_leave_children=True)
            for _ in range(workers)
        ]
        self._idle: queue.SimpleQueue[Worker] = queue.SimpleQueue()
        for worker in self._all:
            self._idle.put(worker)

    def submit(self, config: Config) -> Future[bytes | Rejected]:
        """Code of a configuration, some time; or why there is none."""
        return self._threads.submit(self._compile, config)

    def _compile(self, config: Config) -> bytes | Rejected:
        worker = self._idle.get()
        try:
            answer: bytes | Rejected = worker.call(Compile(config), self._seconds)
        except WorkerError as error:
            reason = "timeout" if error.reason == "timeout" else "compile"
            return Rejected(reason, str(error))
        finally:
            self._idle.put(worker)
        return answer

    def close(self) -> None:
        """End all processes; what is not compiled yet is dropped."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._stop_all()
        # A thread that was about to call has started its worker anew, and has ended now.
        self._threads.shutdown(wait=True)
        self._stop_all()

    def _stop_all(self) -> None:
        for worker in self._all:
            worker.stop()
