"""Ahead-of-time compilation of candidates by threads with one worker process each."""

from __future__ import annotations

import queue
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any

from ..errors import TuningError
from ..spaces import Config
from .kernel_worker import Compile, Identify, KernelWorker, Rejected, Target
from .placement import Caller, Here, Placement
from .worker import WorkerError

_GRACE_SECONDS = 30.0
"""Seconds beyond the compiler's timeout after which the worker process is ended."""


class CompilePool:
    """Pool that compiles candidates while other candidates are measured.

    :param workers: number of processes, each of which runs one compiler at a time.
    :param placement: machines on which they run; None: this machine.
    """

    def __init__(self, target: Target, workers: int, placement: Placement | None = None) -> None:
        placement = placement or Here()
        self._seconds = target.compile_seconds + _GRACE_SECONDS
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix="compile")
        self._all = [
            placement.compiler(partial(KernelWorker, target), target.limits) for _ in range(workers)
        ]
        self._idle: queue.SimpleQueue[Caller] = queue.SimpleQueue()
        for worker in self._all:
            self._idle.put(worker)

    def demand(self, identity: Mapping[str, Any]) -> None:
        """Compare the identity of trials with the identity of the machines that compile.

        :raises TuningError: identities differ, so that one machine would measure another one's
            code.
        """
        for worker in self._all:
            try:
                found: Mapping[str, Any] = worker.call(Identify(), self._seconds)
            except WorkerError as error:
                raise TuningError(f"[tune] a machine cannot compile: {error}") from error
            for name, value in identity.items():
                if found.get(name) != value:
                    raise TuningError(
                        f"[tune] machines differ: {name} is {value!r} on the machine with the "
                        f"device, and {found.get(name)!r} where a compiler runs"
                    )

    def submit(self, config: Config) -> Future[bytes | Rejected]:
        """Return a future of a configuration's code, or of the reason why it does not compile."""
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
        """End all processes; pending compilations are dropped."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._stop_all()
        # A thread may have restarted its worker in the meantime; it has ended by now.
        self._threads.shutdown(wait=True)
        self._stop_all()

    def _stop_all(self) -> None:
        for worker in self._all:
            worker.stop()
