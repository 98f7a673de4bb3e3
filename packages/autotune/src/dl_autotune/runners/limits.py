"""Resource limits of a worker; a candidate that exceeds them is a failed trial."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass, field
from pathlib import Path

from diopi_proto import worker

_CGROUP = Path("/sys/fs/cgroup/memory.max")


def half_of_memory() -> int:
    """Return half of the memory of the machine, or of this container, in bytes."""
    whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    with contextlib.suppress(OSError, ValueError):
        whole = min(whole, int(_CGROUP.read_text()))
    return whole // 2


def enough_to_start() -> int:
    """Return the bytes that a worker needs to start: its libraries, and stacks of threads."""
    return (512 << 20) + (32 << 20) * (os.cpu_count() or 1)


@dataclass(frozen=True)
class Limits(worker.Limits):
    """Limits of a worker and of all that it starts."""

    memory: int = field(default_factory=half_of_memory)
    processes: int = 256
    printed: int = 64 << 20
    file: int = 1 << 30
    core: int = 0
