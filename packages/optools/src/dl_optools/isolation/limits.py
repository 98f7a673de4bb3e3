"""What a bundle may take of the machine. Imports no torch."""

from __future__ import annotations

import math
import os
import resource
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

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


def free_memory(proc: Path = Path("/proc"), groups: Path = Path("/sys/fs/cgroup")) -> int:
    """Bytes that can be had without swapping; control groups may leave less than the machine."""
    return min(_of_machine(proc), *_of_groups(proc, groups))


def _of_machine(proc: Path) -> int:
    facts = _numbers(proc / "meminfo")
    return 1024 * facts.get("MemAvailable:", facts.get("MemFree:", 1 << 20))


def _of_groups(proc: Path, root: Path) -> Iterator[int]:
    """What each control group that this process is in leaves; groups without a limit: much."""
    yield 1 << 62
    for line in _lines(proc / "self" / "cgroup"):
        _, _, rest = line.partition(":")
        kinds, _, place = rest.partition(":")
        # Version 2 has one tree and names no kinds.
        if kinds and "memory" not in kinds.split(","):
            continue
        top = root / "memory" if kinds else root
        names = ("limit_in_bytes", "usage_in_bytes") if kinds else ("max", "current")
        group = top / place.lstrip("/")
        while True:
            most, used = (_number(group / f"memory.{name}") for name in names)
            if most is not None and used is not None:
                # What caches hold of files goes when it is needed.
                cached = _numbers(group / "memory.stat").get("inactive_file", 0)
                yield max(most - used + cached, 0)
            if group in (top, group.parent):
                break
            group = group.parent


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return []


def _numbers(path: Path) -> dict[str, int]:
    parts = (line.split() for line in _lines(path))
    return {x[0]: int(x[1]) for x in parts if len(x) > 1 and x[1].isdigit()}


def _number(path: Path) -> int | None:
    text = "".join(_lines(path))
    return int(text) if text.isdigit() else None


def confine(limits: Limits, *, writes: bool, devices: bool) -> None:
    """Hold this process to the limits from now on. There is no way back.

    :param writes: it may write files, each no longer than the memory it may take.
    :param devices: it uses one, whose driver may map more address space than there is memory.
    """
    _lower(resource.RLIMIT_CORE, _NO_CORE)
    _lower(resource.RLIMIT_FSIZE, limits.memory if writes else 0)
    sizes = Path("/proc/self/statm").read_text(encoding="ascii").split()
    space, data = (int(sizes[at]) * resource.getpagesize() for at in (0, 5))
    _lower(resource.RLIMIT_DATA, data + limits.memory)
    if not devices:
        _lower(resource.RLIMIT_AS, space + limits.memory)


def _lower(kind: int, value: int) -> None:
    _, hard = resource.getrlimit(kind)
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (value, value))


def allow_time(limits: Limits) -> None:
    """So much processor time from now on: ends it where nobody is left to stop it."""
    used = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
    # Of a fraction of a second the kernel knows nothing.
    soft = math.ceil(used + limits.seconds * (os.cpu_count() or 1)) + 1
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    soft = soft if hard == resource.RLIM_INFINITY else min(soft, hard)
    resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))
