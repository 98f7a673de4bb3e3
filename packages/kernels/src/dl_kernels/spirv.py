"""Clang and the SPIR-V translator of one LLVM release: their discovery, and a vendor's options.

    tools = find_spirv_tools()
    KernelLibrary(..., device_compiler=spirv_compiler(tools, library="csrc/device/library.cl", ...))

Clang's HIP front end compiles kernels without HIP's headers or runtime;
:mod:`dl_kernels.spirv_unit` runs the steps. Imports only the standard library and the build
helpers.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from diopi_proto.build import DeviceCompiler

__all__ = ["RELEASE", "SpirvError", "SpirvTools", "find_spirv_tools", "spirv_compiler"]

RELEASE = 15
"""LLVM release of all tools. Later ones have no typed pointers, which the translator of this
release needs, and Debian has no later translator for the stable release."""

_TOOLS = ("clang++", "llvm-link", "llvm-dis", "llvm-as", "llvm-spirv", "opt")
_VERSION = re.compile(r"\b(\d+)\.\d+\.\d+")


class SpirvError(RuntimeError):
    """A tool is missing or has the wrong release; the message says what to install."""


@dataclass(frozen=True)
class SpirvTools:
    """Paths of the tools."""

    clang: str
    link: str
    disassemble: str
    assemble: str
    translate: str
    optimize: str


def find_spirv_tools(environ: Mapping[str, str] = os.environ) -> SpirvTools:
    """Return the tools of ``DL_LLVM_BIN``, a folder, or of ``PATH``.

    :raises SpirvError: a tool is missing or has the wrong release.
    """
    path = environ.get("DL_LLVM_BIN") or environ.get("PATH")
    found = [_find(name, path) for name in _TOOLS]
    missing = [name for name, tool in zip(_TOOLS, found, strict=True) if tool is None]
    if missing:
        raise SpirvError(
            f"{' and '.join(missing)} of LLVM {RELEASE} {'is' if len(missing) == 1 else 'are'} not "
            f"installed (on Debian: apt-get install --no-install-recommends clang-{RELEASE} "
            f"llvm-{RELEASE} llvm-spirv-{RELEASE}); DL_LLVM_BIN names a folder with all six tools"
        )
    return SpirvTools(*(tool for tool in found if tool is not None))


def _find(name: str, path: str | None) -> str | None:
    """Return the tool with the release in its name, or one that reports the release."""
    if versioned := shutil.which(f"{name}-{RELEASE}", path=path):
        return versioned
    plain = shutil.which(name, path=path)
    if plain is None:
        return None
    done = subprocess.run([plain, "--version"], capture_output=True, text=True, check=False)
    reported = _VERSION.search(done.stdout)
    return plain if reported is not None and int(reported[1]) == RELEASE else None


def spirv_compiler(
    tools: SpirvTools,
    *,
    library: str | Path,
    prelude: str | Path,
    machine: str,
    group_threads: int,
    warp_threads: int,
) -> DeviceCompiler:
    """Return the options with which kernels become SPIR-V, embedded in objects for the host.

    Kernels are compiled twice if they use sub-groups, because many devices have none.

    :param library: OpenCL C source of the functions that kernels call and clang does not have.
    :param prelude: header that is included before each source.
    :param machine: the kernels' machine header, as an ``#include`` names it.
    :param group_threads: size of the work-groups of all kernels.
    :param warp_threads: size of their sub-groups; ``group_threads`` if the kernels use none.
    """
    own = [
        *(f"--tool={tool}" for tool in vars(tools).values()),
        f"--library={Path(library).absolute()}",
        f"--group-threads={group_threads}",
        f"--warp-threads={warp_threads}",
        "--",
    ]
    return DeviceCompiler(
        name="clang for SPIR-V",
        command=(sys.executable, "-m", "dl_kernels.spirv_unit", *own),
        suffix=".hip",
        flags=(
            "-O2",
            f'-DDL_KERNELS_MACHINE="{machine}"',
            *("-include", str(Path(prelude).absolute())),
        ),
        host_flag="",
        # Clang does not emit unique symbols and rejects the flag.
        unknown=("-fno-gnu-unique",),
    )
