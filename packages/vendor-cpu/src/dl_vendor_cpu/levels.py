"""Detection of a processor's x86-64 level. Imports only the standard library, since the build uses
it too.
"""

from __future__ import annotations

import platform
from pathlib import Path

# Features that each x86-64 level adds to the one below, as named by Linux.
_LEVELS: tuple[tuple[str, frozenset[str]], ...] = (
    (
        "v4",
        frozenset({"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}),
    ),
    (
        "v3",
        frozenset({"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave"}),
    ),
    (
        "v2",
        frozenset({"cx16", "lahf_lm", "popcnt", "pni", "sse4_1", "sse4_2", "ssse3"}),
    ),
)


def processor_flags(cpuinfo: str) -> frozenset[str]:
    """Return the features of the first processor in the text of ``/proc/cpuinfo``."""
    for line in cpuinfo.splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "flags":
            return frozenset(value.split())
    return frozenset()


def supported_levels(flags: frozenset[str]) -> list[str]:
    """Return the x86-64 levels that a processor with these features supports, best first."""
    needed: frozenset[str] = frozenset()
    levels: list[str] = []
    for level, features in reversed(_LEVELS):
        needed |= features
        if needed <= flags:
            levels.insert(0, level)
    return levels


def levels_here() -> list[str]:
    """Return the names of libraries that this machine can run, the best one first."""
    if platform.machine() not in ("x86_64", "AMD64"):
        return ["native"]
    try:
        cpuinfo = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ["v2"]
    return supported_levels(processor_flags(cpuinfo))
