"""Compilers of device code: what a library's sources of another language are compiled with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from . import rules


@dataclass(frozen=True)
class DeviceCompiler:
    """A compiler in the shape of nvcc: it makes an object with device code and host code in it,
    which the system's C++ compiler links.

    Its sources get the build rules' flags, the library's folders and macros, and ``flags``; the
    flags that are meant for the system's compiler do not reach it.
    """

    name: str
    """For messages: ``"nvcc"``."""
    command: tuple[str, ...]
    """How it is called; more than one word where something stands before it, as ccache."""
    suffix: str
    """Suffix of its sources: ``".cu"``."""
    flags: tuple[str, ...] = ()
    """Its own: architectures, optimisation, warnings."""
    further: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """More of them for sources whose names begin so: ``{"part_": ("-O3",)}``."""
    host_flag: str = "-Xcompiler="
    """What hands a comma-separated list of flags on to the host's compiler; empty where the
    compiler takes them itself, as those that are made from clang do."""
    unknown: tuple[str, ...] = ()
    """Flags of the build rules that it refuses; what they forbid, it must not do by itself."""

    def compile_command(self, source: str = "") -> list[str]:
        """All but the library's own flags, the source and the object.

        :param source: the name of its file.
        """
        every = (*rules.CXX_FLAGS, *rules.COMMON_FLAGS)
        ours = [flag for flag in every if flag not in self.unknown]
        # The optimisation is the compiler's own matter, the language it knows by itself.
        handed = [flag for flag in ours if not flag.startswith(("-O", "-std="))]
        language = [flag for flag in ours if flag.startswith("-std=")]
        host = [f"{self.host_flag}{','.join(handed)}"] if self.host_flag else handed
        further = [
            x for start, flags in self.further.items() if source.startswith(start) for x in flags
        ]
        return [*self.command, *language, *host, *self.flags, *further]
