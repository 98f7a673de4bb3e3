"""Candidates compiled ahead, each thread with a worker process of its own."""

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
"""Beyond the compiler's own limit, after which the whole process is given up."""


class CompilePool:
    """Compiles while candidates are measured.

    :param workers: processes; each runs one compiler at a time.
    :param placement: where they run; None: on this machine.
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
        """Compare what trials depend on with what it is where the compilers are.

        :raises TuningError: it differs: what one machine compiles would be measured as another's.
        """
        for worker in self._all:
            try:
                found: Mapping[str, Any] = worker.call(Identify(), self._seconds)
            except WorkerError as error:
                raise TuningError(f"[tune] a machine cannot compile: {error}") from error
            for name, value in identity.items():
                if found.get(name) != value:
                    raise TuningError(
                        f"[tune] machines differ: {name} is {value!r} where the device is, and"
                        f" {found.get(name)!r} where a compiler runs"
                    )

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
        # A thread that was about to call has restarted its worker, and has ended now.
        self._threads.shutdown(wait=True)
        self._stop_all()

    def _stop_all(self) -> None:
        for worker in self._all:
            worker.stop()
