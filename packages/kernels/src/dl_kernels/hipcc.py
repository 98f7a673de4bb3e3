"""AMD's compiler hipcc: its discovery, and its options in a vendor's build.

    compiler = find_hipcc()
    KernelLibrary(..., device_compiler=hipcc(compiler, processors("gfx90a,gfx1030", compiler)))

Imports only the standard library and the build helpers; the only process that it starts is the
compiler.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from diopi_proto.build import DeviceCompiler

__all__ = ["ALL", "Hipcc", "HipccError", "find_hipcc", "hipcc", "processors"]

ALL = ("gfx906", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1201")
"""Processors of ``all``, if the compiler supports them: MI50, MI200, MI300, and GPUs of the
generations RDNA 2, 3 and 4."""

_VERSION = re.compile(r"HIP version: (\d+)\.(\d+)\.(\d+)")
_PROCESSOR = re.compile(r"gfx[0-9a-f]{3,5}")


class HipccError(RuntimeError):
    """hipcc is missing or unusable; the message says what to install."""


@dataclass(frozen=True)
class Hipcc:
    """A working hipcc."""

    command: tuple[str, ...]
    version: int
    """HIP's numbering: 50221153 is 5.2.21153."""

    def unsupported_reason(self, processor: str) -> str | None:
        """Return the compiler's error for a processor, or None if it is supported."""
        with tempfile.TemporaryDirectory() as folder:
            target = str(Path(folder) / "code.o")
            flags = [f"--offload-arch={processor}", "-x", "hip", "-c", os.devnull, "-o", target]
            done = subprocess.run(
                [*self.command, *flags], capture_output=True, text=True, check=False
            )
        message = done.stderr.strip()
        return None if done.returncode == 0 else message.partition("\n")[0] or "it fails"


def find_hipcc(environ: Mapping[str, str] = os.environ) -> Hipcc:
    """Return the compiler named by ``HIPCC``, or that of ``ROCM_PATH``, or of ``PATH``.

    :raises HipccError: none is installed, or it does not run.
    """
    command = shlex.split(environ.get("HIPCC", ""))
    home = Path(environ.get("ROCM_PATH") or "/opt/rocm") / "bin" / "hipcc"
    if not command and environ.get("ROCM_PATH") and home.is_file():
        command = [str(home)]
    if not command:
        found = shutil.which("hipcc", path=environ.get("PATH"))
        command = [found] if found else [str(home)] if home.is_file() else []
    if not command:
        raise HipccError(
            "hipcc, AMD's compiler, is not installed: install ROCm, and put its hipcc into PATH "
            "or its folder into ROCM_PATH (on Debian: apt-get install --no-install-recommends "
            "hipcc libamdhip64-dev rocm-device-libs)"
        )
    # Otherwise hipcc would call nvcc where that is installed.
    command = ["env", "HIP_PLATFORM=amd", *command]
    try:
        done = subprocess.run(
            [*command, "--version"], capture_output=True, text=True, check=False, timeout=60
        )
    except OSError as error:
        raise HipccError(f"{shlex.join(command)} cannot be run: {error.strerror}") from error
    release = _VERSION.search(done.stdout)
    if done.returncode != 0 or release is None:
        raise HipccError(
            f"{shlex.join(command)} --version prints no version: {done.stderr.strip()}"
        )
    major, minor, patch = (int(part) for part in release.groups())
    return Hipcc(tuple(command), 10000000 * major + 100000 * minor + patch)


def processors(wanted: str, compiler: Hipcc) -> tuple[str, ...]:
    """Parse a list of processors; ``all`` omits those that the compiler does not support.

    :param wanted: names separated by commas, ``gfx90a,gfx1030``, or ``all`` for :data:`ALL`.
    :raises ValueError: a name is invalid, or the compiler does not support it.
    """
    if wanted == "all":
        known = tuple(name for name in ALL if compiler.unsupported_reason(name) is None)
        if not known:
            raise ValueError(f"the compiler supports none of {', '.join(ALL)}")
        return known
    found = tuple(dict.fromkeys(wanted.replace(" ", "").split(",")))
    for name in found:
        if not _PROCESSOR.fullmatch(name):
            raise ValueError(
                f"{name!r} in {wanted!r} is not a processor; write gfx90a, or a list separated by "
                "commas, or all; rocminfo prints the processor of a GPU"
            )
        if reason := compiler.unsupported_reason(name):
            raise ValueError(
                f"{shlex.join(compiler.command)} does not support {name}: {reason}; "
                "install a later ROCm, or omit it"
            )
    return found


def hipcc(compiler: Hipcc, wanted: Sequence[str]) -> DeviceCompiler:
    """Return the options with which hipcc compiles kernels.

    :param wanted: processors as returned by :func:`processors`.
    """
    return DeviceCompiler(
        name="hipcc",
        command=compiler.command,
        suffix=".hip",
        flags=("-O3", *(f"--offload-arch={name}" for name in wanted)),
        host_flag="",
        # Clang does not emit unique symbols and rejects the flag.
        unknown=("-fno-gnu-unique",),
    )
