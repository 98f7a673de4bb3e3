"""Detection of a processor's instruction sets. Imports only the standard library, since the build
uses it too.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from pathlib import Path

Levels = Sequence[tuple[str, frozenset[str]]]

# Features that each x86-64 level adds to the one below, as named by Linux; the lowest level first.
X86: Levels = (
    ("v2", frozenset({"cx16", "lahf_lm", "popcnt", "pni", "sse4_1", "sse4_2", "ssse3"})),
    ("v3", frozenset({"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave"})),
    ("v4", frozenset({"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"})),
)
# Every aarch64 processor has the first level: Neoverse N1 and Kunpeng 920, too. Graviton 3, Grace
# and other ones with SVE and bfloat16 have the second.
ARM: Levels = (
    ("armv8", frozenset()),
    ("sve", frozenset({"sve", "bf16", "asimddp", "asimdhp", "fphp"})),
)
_MACHINES: Mapping[str, Levels] = {"x86_64": X86, "AMD64": X86, "aarch64": ARM}
ARCHITECTURES: Mapping[str, str] = {
    "v2": "x86-64-v2",
    "v3": "x86-64-v3",
    "v4": "x86-64-v4",
    "armv8": "armv8-a",
    "sve": "armv8.2-a+sve+bf16+dotprod+fp16",
}
"""The compiler's name of each level, after ``-march=``."""
NATIVE = "native"
"""The level of other processors: whatever the compiler uses by default."""


def processor_flags(cpuinfo: str) -> frozenset[str]:
    """Return the features of the first processor in the text of ``/proc/cpuinfo``."""
    for line in cpuinfo.splitlines():
        name, _, value = line.partition(":")
        if name.strip() in ("flags", "Features"):
            return frozenset(value.split())
    return frozenset()


def supported_levels(flags: frozenset[str], levels: Levels = X86) -> list[str]:
    """Return the levels that a processor with these features supports, best first."""
    needed: frozenset[str] = frozenset()
    found: list[str] = []
    for level, features in levels:
        needed |= features
        if needed <= flags:
            found.insert(0, level)
    return found


def known_levels(machine: str | None = None) -> list[str]:
    """Return all levels of a kind of machine, the lowest first; default: of this one."""
    return [name for name, _ in _MACHINES.get(machine or platform.machine(), ((NATIVE, ()),))]


def levels_here() -> list[str]:
    """Return the names of libraries that this machine can run, the best one first."""
    levels = _MACHINES.get(platform.machine())
    if levels is None:
        return [NATIVE]
    try:
        cpuinfo = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return [levels[0][0]]
    return supported_levels(processor_flags(cpuinfo), levels)
