"""Compilers of device code, such as nvcc and hipcc."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from . import rules


@dataclass(frozen=True)
class DeviceCompiler:
    """A compiler like nvcc, whose objects contain device code and host code. The system's C++
    compiler links them.

    It gets the flags of the build rules, the library's include folders and macros, and ``flags``,
    but not the flags for the system's compiler.
    """

    name: str
    """Name in messages, such as ``"nvcc"``."""
    command: tuple[str, ...]
    """Command; several words if a launcher such as ccache precedes it."""
    suffix: str
    """Suffix of its sources, such as ``".cu"``."""
    flags: tuple[str, ...] = ()
    """Flags for architectures, optimization and warnings."""
    further: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Additional flags for sources by the prefix of their names: ``{"part_": ("-O3",)}``."""
    host_flag: str = "-Xcompiler="
    """Option that passes a comma-separated list of flags to the host compiler; empty if the
    compiler accepts these flags itself, as compilers based on clang do."""
    unknown: tuple[str, ...] = ()
    """Flags of the build rules that it rejects. It follows those rules without the flags."""

    def compile_command(self, source: str = "") -> list[str]:
        """Return the command without the library's own flags, the source and the object.

        :param source: file name of the source.
        """
        every = (*rules.CXX_FLAGS, *rules.COMMON_FLAGS)
        ours = [flag for flag in every if flag not in self.unknown]
        # The device compiler has its own optimization flags and knows its language.
        handed = [flag for flag in ours if not flag.startswith(("-O", "-std="))]
        language = [flag for flag in ours if flag.startswith("-std=")]
        host = [f"{self.host_flag}{','.join(handed)}"] if self.host_flag else handed
        further = [
            x for start, flags in self.further.items() if source.startswith(start) for x in flags
        ]
        return [*self.command, *language, *host, *self.flags, *further]
