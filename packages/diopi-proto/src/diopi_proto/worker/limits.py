"""Resource limits of a worker and of all processes that it starts."""

from __future__ import annotations

import contextlib
import resource
from dataclasses import dataclass
from pathlib import Path

from .outcome import Failure, WorkerError
from .processes import Process, processes, proportional


@dataclass(frozen=True)
class Limits:
    """Limits of a worker; None means unlimited.

    :ivar memory: bytes of data for each process, and of resident memory for all processes together.
    :ivar processes: number of processes in addition to the worker itself.
    :ivar printed: bytes of output to standard output and error.
    :ivar file: bytes of the largest file that the worker may write.
    :ivar core: bytes of a core file.
    """

    memory: int | None = None
    processes: int | None = None
    printed: int | None = None
    file: int | None = None
    core: int | None = None

    def apply(self) -> None:
        """Let the system enforce those limits that it can, on this process and the ones it starts.

        The system does not limit root's number of processes, and does not count shared memory as
        data; :meth:`check` covers these.
        """
        lower_limit(resource.RLIMIT_CORE, self.core)
        lower_limit(resource.RLIMIT_DATA, self.memory)
        lower_limit(resource.RLIMIT_FSIZE, self.file)
        if self.processes is not None:
            threads = sum(each.threads for each in processes())
            lower_limit(resource.RLIMIT_NPROC, threads + self.processes)
        if self.memory is not None:
            with contextlib.suppress(OSError):
                # If memory runs out nevertheless, the system should kill this process first.
                Path("/proc/self/oom_score_adj").write_text("1000")

    @property
    def watched(self) -> bool:
        """True if some of the set limits are not enforced by the system."""
        return self.memory is not None or self.processes is not None

    def check(self, found: list[Process]) -> None:
        """Compare a worker and its descendants with the limits.

        :raises WorkerError: a limit is exceeded.
        """
        if self.processes is not None and len(found) > self.processes + 1:
            started = len(found) - 1
            message = f"it started {started} processes, but only {self.processes} are allowed"
            raise WorkerError(Failure.OVER_LIMIT, message)
        if self.memory is None:
            return
        used = sum(each.resident for each in found)
        if used > self.memory:
            # Proportional sizes are expensive to read, so they are read only now.
            used = sum(proportional(each) for each in found)
        if used > self.memory:
            allowed = mebibytes(self.memory)
            message = f"it uses {mebibytes(used)} of memory, but only {allowed} are allowed"
            raise WorkerError(Failure.OUT_OF_MEMORY, message)

    def check_printed(self, count: int) -> None:
        """Check the number of printed bytes against the limit.

        :raises WorkerError: the limit is exceeded.
        """
        if self.printed is not None and count > self.printed:
            message = f"it printed more than {self.printed >> 20} MiB"
            raise WorkerError(Failure.OVER_LIMIT, message)


def lower_limit(kind: int, value: int | None, *, hard: bool = False) -> None:
    """Lower a limit of this process.

    :param kind: such as ``resource.RLIMIT_DATA``.
    :param hard: True: the limit cannot be raised again.
    """
    if value is None:
        return
    _, most = resource.getrlimit(kind)
    value = value if most == resource.RLIM_INFINITY else min(value, most)
    resource.setrlimit(kind, (value, value if hard else most))


def mebibytes(count: int) -> str:
    """Format a number of bytes in MiB."""
    return f"{count / (1 << 20):,.0f} MiB"
