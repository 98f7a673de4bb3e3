"""The plugin of entry point ``cpu``: says which of the wheel's libraries fits this processor."""

from __future__ import annotations

import platform
from pathlib import Path

import pluggy

from diopi_proto import VendorDescriptor

from ._version import __version__

hookimpl = pluggy.HookimplMarker("dl")

_LIBRARIES = Path(__file__).parent / "lib"

# What the x86-64 levels add to each other, as Linux names it.
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
    """The feature names in the text of ``/proc/cpuinfo``, of the first processor that lists any."""
    for line in cpuinfo.splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "flags":
            return frozenset(value.split())
    return frozenset()


def supported_levels(flags: frozenset[str]) -> list[str]:
    """The x86-64 levels that a processor with these features can run, the best one first."""
    needed: frozenset[str] = frozenset()
    levels: list[str] = []
    for level, features in reversed(_LEVELS):
        needed |= features
        if needed <= flags:
            levels.insert(0, level)
    return levels


def choose_library(directory: Path, levels: list[str]) -> Path | None:
    """The library in ``directory`` for the first of ``levels`` that has one; else None."""
    for level in levels:
        library = directory / f"libdl_vendor_cpu_{level}.so"
        if library.is_file():
            return library
    return None


def _levels_here() -> list[str]:
    if platform.machine() not in ("x86_64", "AMD64"):
        return ["native"]
    try:
        cpuinfo = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ["v2"]
    return supported_levels(processor_flags(cpuinfo))


@hookimpl
def dl_vendor() -> VendorDescriptor:
    """The library for this processor. A host that opens it finds the CPU as one device, or as
    ``DL_CPU_DEVICES`` of them.

    :raises FileNotFoundError: the wheel has no library that this processor can run.
    """
    levels = _levels_here()
    library = choose_library(_LIBRARIES, levels)
    if library is None:
        raise FileNotFoundError(
            f"dl-vendor-cpu has no library for this processor (levels "
            f"{', '.join(levels) or 'none'}) in {_LIBRARIES}; rebuild it with DL_BUILD_ISA=all"
        )
    return VendorDescriptor(
        name="cpu", library=library, version=__version__, priority=0, accelerator=False
    )
