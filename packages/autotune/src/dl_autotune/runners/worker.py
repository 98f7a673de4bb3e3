"""Worker process for code that may crash, hang or corrupt memory; any outcome is reported."""

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
    """The process gave no answer.

    :ivar reason: a value of :class:`diopi_proto.worker.Failure`.
    """

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class Worker(worker.Worker):
    """Worker that calls a handler in a child process, and starts a new process after a failure.

    :param build: function that creates the handler in the process; importable there.
    :param may_leave_children: processes that the handler started may outlive an answer, such as the
        server of a compiler's cache; otherwise such an answer is a failure.
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
            f"a worker did not start within {mebibytes(self.limits.memory)} of memory: give it"
            f" {mebibytes(enough)}, as --memory {enough >> 20} does, or more ({message})",
        )

    def _describe(self, error: worker.WorkerError) -> str:
        told = str(error)
        if error.failure in (Failure.CRASHED, Failure.EXITED):
            if error.peak > _NEARLY * self.limits.memory:
                used, allowed = mebibytes(error.peak), mebibytes(self.limits.memory)
                told += f", using {used} of the {allowed} of memory that are allowed"
            if last := error.output.strip().splitlines()[-1:]:
                told += f": {last[0]}"
        return told
