"""Resource limits of a worker and of all that it starts."""

from __future__ import annotations

import contextlib
import resource
from dataclasses import dataclass
from pathlib import Path

from .outcome import Failure, WorkerError
from .processes import Process, processes, proportional


@dataclass(frozen=True)
class Limits:
    """Limits of a worker; None: there is none.

    :ivar memory: bytes; of data for each process, and of resident memory for all together.
    :ivar processes: number of processes in addition to the worker itself.
    :ivar printed: bytes on its standard output and error.
    :ivar file: bytes of the largest file that it may write.
    :ivar core: bytes of a core file.
    """

    memory: int | None = None
    processes: int | None = None
    printed: int | None = None
    file: int | None = None
    core: int | None = None

    def apply(self) -> None:
        """Let the system enforce on this process, and what it starts, what it can.

        Root is not held to a number of processes, and memory that is shared is not data: that is
        what :meth:`check` is for.
        """
        lower_limit(resource.RLIMIT_CORE, self.core)
        lower_limit(resource.RLIMIT_DATA, self.memory)
        lower_limit(resource.RLIMIT_FSIZE, self.file)
        if self.processes is not None:
            threads = sum(each.threads for each in processes())
            lower_limit(resource.RLIMIT_NPROC, threads + self.processes)
        if self.memory is not None:
            with contextlib.suppress(OSError):
                # Where memory runs out all the same, this is what has to go.
                Path("/proc/self/oom_score_adj").write_text("1000")

    @property
    def watched(self) -> bool:
        """True if the system does not enforce every limit that is set."""
        return self.memory is not None or self.processes is not None

    def check(self, found: list[Process]) -> None:
        """Compare a worker and its descendants with the limits.

        :raises WorkerError: they exceed one.
        """
        if self.processes is not None and len(found) > self.processes + 1:
            message = f"it started {len(found) - 1} processes, and {self.processes} are allowed"
            raise WorkerError(Failure.OVER_LIMIT, message)
        if self.memory is None:
            return
        used = sum(each.resident for each in found)
        if used > self.memory:
            # Only now is it worth to ask for each one's part of shared pages.
            used = sum(proportional(each) for each in found)
        if used > self.memory:
            message = f"it uses {mebibytes(used)} of memory, and {mebibytes(self.memory)}"
            raise WorkerError(Failure.OUT_OF_MEMORY, f"{message} are allowed")

    def check_printed(self, count: int) -> None:
        """Compare what a worker printed with the limit.

        :raises WorkerError: it printed more.
        """
        if self.printed is not None and count > self.printed:
            message = f"it printed more than {self.printed >> 20} MiB"
            raise WorkerError(Failure.OVER_LIMIT, message)


def lower_limit(kind: int, value: int | None, *, hard: bool = False) -> None:
    """Lower a limit of this process.

    :param kind: such as ``resource.RLIMIT_DATA``.
    :param hard: True: there is no way back.
    """
    if value is None:
        return
    _, most = resource.getrlimit(kind)
    value = value if most == resource.RLIM_INFINITY else min(value, most)
    resource.setrlimit(kind, (value, value if hard else most))


def mebibytes(count: int) -> str:
    """Return bytes as text."""
    return f"{count / (1 << 20):,.0f} MiB"
