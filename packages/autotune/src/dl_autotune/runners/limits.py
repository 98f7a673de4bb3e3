"""Resource limits of a worker: a candidate that takes the whole machine is a failed trial."""

from __future__ import annotations

import contextlib
import os
import resource
from dataclasses import dataclass, field
from pathlib import Path

from .processes import Process, processes, proportional

_CGROUP = Path("/sys/fs/cgroup/memory.max")


def half_of_memory() -> int:
    """Bytes: half of what the machine has, or of what this container may use."""
    whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    with contextlib.suppress(OSError, ValueError):
        whole = min(whole, int(_CGROUP.read_text()))
    return whole // 2


def enough_to_start() -> int:
    """Bytes with which a worker starts for sure: its libraries, and room for each of their
    threads."""
    return (512 << 20) + (32 << 20) * (os.cpu_count() or 1)


@dataclass(frozen=True)
class Limits:
    """Limits of a worker and of all that it starts.

    :ivar memory: bytes; of data for each process, and of resident memory for all together.
    :ivar processes: number of processes in addition to the worker itself.
    :ivar printed: bytes on its standard output and error.
    :ivar file: bytes of the largest file that it may write.
    """

    memory: int = field(default_factory=half_of_memory)
    processes: int = 256
    printed: int = 64 << 20
    file: int = 1 << 30

    def apply(self) -> None:
        """Let the system enforce on this process, and what it starts, what it can.

        Root is not held to a number of processes, and memory that is shared is not data: that is
        what :meth:`exceeded` is for.
        """
        threads = sum(each.threads for each in processes())
        for kind, value in (
            (resource.RLIMIT_CORE, 0),
            (resource.RLIMIT_DATA, self.memory),
            (resource.RLIMIT_FSIZE, self.file),
            (resource.RLIMIT_NPROC, threads + self.processes),
        ):
            _, most = resource.getrlimit(kind)
            soft = value if most == resource.RLIM_INFINITY else min(value, most)
            resource.setrlimit(kind, (soft, most))
        with contextlib.suppress(OSError):
            # Where memory runs out all the same, this is what has to go.
            Path("/proc/self/oom_score_adj").write_text("1000")

    def exceeded(self, found: list[Process]) -> str | None:
        """Return the exceeded limit of a worker and its children; None if none is exceeded."""
        if len(found) > self.processes + 1:
            return f"it started {len(found) - 1} processes, and {self.processes} are allowed"
        used = sum(each.resident for each in found)
        if used > self.memory:
            # Each counts what it shares in full; only then is it worth to ask for its part.
            used = sum(proportional(each) for each in found)
        if used > self.memory:
            return f"it uses {mebibytes(used)} of memory, and {self.allowed} are allowed"
        return None

    @property
    def allowed(self) -> str:
        """The memory that is allowed, as text."""
        return mebibytes(self.memory)


def mebibytes(count: int) -> str:
    """Bytes as text."""
    return f"{count / (1 << 20):,.0f} MiB"
