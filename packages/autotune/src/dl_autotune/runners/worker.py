"""A process that does what may crash, hang, or spoil memory; whatever it does is an answer here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from diopi_proto import worker
from diopi_proto.worker import Failure, Handler
from diopi_proto.worker.limits import mebibytes

from ..errors import TuningError
from .limits import Limits, enough_to_start

_NEARLY = 0.8
"""Share of the memory limit above which a crash is blamed on memory."""
_LACKS_MEMORY = ("MemoryError", "allocate memory", "map segment")


class WorkerError(TuningError):
    """The process did not answer.

    :ivar reason: a value of :class:`diopi_proto.worker.Failure`.
    """

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class Worker(worker.Worker):
    """Calls a handler in a process of its own; a new one after each failure.

    :param build: makes the handler, in the process; importable there.
    :param may_leave_children: whether what it started may run on after an answer, as the server of
        a compiler's cache does; else such an answer does not count.
    """

    limits: Limits

    def __init__(
        self,
        build: Callable[[], Handler],
        limits: Limits | None = None,
        *,
        may_leave_children: bool = False,
    ) -> None:
        super().__init__(
            build, limits or Limits(), forbids_children=not may_leave_children, bare=(TuningError,)
        )

    def call(self, request: Any, seconds: float, *, renews: bool = False) -> Any:
        """Return the handler's answer.

        :raises WorkerError: the process ended, raised, was killed after `seconds`, took more than
            its limits, or left processes behind.
        """
        try:
            self.start()
        except worker.WorkerError as error:
            raise self._failed_start(error) from error
        try:
            return super().call(request, seconds, renews=renews)
        except worker.WorkerError as error:
            raise WorkerError(error.failure.value, self._describe(error)) from error

    def _failed_start(self, error: worker.WorkerError) -> WorkerError:
        message, enough = self._describe(error), enough_to_start()
        told = error.failure is Failure.RAISED and not any(x in message for x in _LACKS_MEMORY)
        if told or self.limits.memory >= enough:
            return WorkerError(error.failure.value, message)
        return WorkerError(
            "limit",
            f"a worker did not start within {self.limits.allowed} of memory: give it"
            f" {mebibytes(enough)}, as --memory {enough >> 20} does, or more ({message})",
        )

    def _describe(self, error: worker.WorkerError) -> str:
        told = str(error)
        if error.failure in (Failure.CRASHED, Failure.EXITED):
            if error.peak > _NEARLY * self.limits.memory:
                used = mebibytes(error.peak)
                told += f", with {used} of memory of {self.limits.allowed} allowed"
            if last := error.output.strip().splitlines()[-1:]:
                told += f": {last[0]}"
        return told
