"""What a bundle may take of the machine. Imports no torch."""

from __future__ import annotations

import math
import os
import resource
from dataclasses import dataclass
from pathlib import Path

from diopi_proto.free_memory import free_memory
from diopi_proto.worker.limits import lower_limit

SHARE = 0.5
"""Of the memory that is free, for one bundle unless its user says otherwise."""
SECONDS = 600.0
"""For one bundle, unless its user says otherwise."""
_NO_CORE = 1
"""At 0 a program that the kernel hands cores to would still get one."""


@dataclass(frozen=True)
class Limits:
    """What one bundle may take.

    :ivar memory: bytes, on top of what torch and the device take without it.
    :ivar seconds: from the question to the answer.
    """

    memory: int
    seconds: float = SECONDS


def default_memory() -> int:
    """Half of the memory that is free now, in this control group too."""
    return int(SHARE * free_memory())


def confine(limits: Limits, *, writes: bool, devices: bool) -> None:
    """Hold this process to the limits from now on. There is no way back.

    :param writes: it may write files, each no longer than the memory it may take.
    :param devices: it uses one, whose driver may map more address space than there is memory.
    """
    lower_limit(resource.RLIMIT_CORE, _NO_CORE, hard=True)
    lower_limit(resource.RLIMIT_FSIZE, limits.memory if writes else 0, hard=True)
    sizes = Path("/proc/self/statm").read_text(encoding="ascii").split()
    space, data = (int(sizes[at]) * resource.getpagesize() for at in (0, 5))
    lower_limit(resource.RLIMIT_DATA, data + limits.memory, hard=True)
    if not devices:
        lower_limit(resource.RLIMIT_AS, space + limits.memory, hard=True)


def allow_time(limits: Limits) -> None:
    """So much processor time from now on: ends it where nobody is left to stop it."""
    used = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
    # Of a fraction of a second the kernel knows nothing.
    seconds = math.ceil(used + limits.seconds * (os.cpu_count() or 1)) + 1
    lower_limit(resource.RLIMIT_CPU, seconds)
