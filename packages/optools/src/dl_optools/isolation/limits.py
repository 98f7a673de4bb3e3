"""Resource limits for a bundle. Imports no torch."""

from __future__ import annotations

import math
import os
import resource
from dataclasses import dataclass
from pathlib import Path

from diopi_proto.free_memory import free_memory
from diopi_proto.worker.limits import lower_limit

SHARE = 0.5
"""Default share of the free memory for one bundle."""
SECONDS = 600.0
"""Default time limit for one bundle in seconds."""
_NO_CORE = 1
"""At 0 the kernel would still pipe a core dump to its handler program."""


@dataclass(frozen=True)
class Limits:
    """Limits for one bundle.

    :ivar memory: bytes, in addition to what torch and the device use by themselves.
    :ivar seconds: from the request to the answer.
    """

    memory: int
    seconds: float = SECONDS


def default_memory() -> int:
    """Return half of the memory that is free now, also within this control group."""
    return int(SHARE * free_memory())


def confine(limits: Limits, *, writes: bool, devices: bool) -> None:
    """Apply the limits to this process, irrevocably.

    :param writes: it may write files, each no longer than its memory limit.
    :param devices: it uses a device, whose driver may map more address space than there is memory.
    """
    lower_limit(resource.RLIMIT_CORE, _NO_CORE, hard=True)
    lower_limit(resource.RLIMIT_FSIZE, limits.memory if writes else 0, hard=True)
    sizes = Path("/proc/self/statm").read_text(encoding="ascii").split()
    space, data = (int(sizes[at]) * resource.getpagesize() for at in (0, 5))
    lower_limit(resource.RLIMIT_DATA, data + limits.memory, hard=True)
    if not devices:
        lower_limit(resource.RLIMIT_AS, space + limits.memory, hard=True)


def allow_time(limits: Limits) -> None:
    """Limit processor time from now on: ends the process even if the parent is gone."""
    used = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
    # The kernel counts whole seconds.
    seconds = math.ceil(used + limits.seconds * (os.cpu_count() or 1)) + 1
    lower_limit(resource.RLIMIT_CPU, seconds)
