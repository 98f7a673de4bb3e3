"""AMD's compiler of kernels: where it is, and how a vendor's build calls it.

    compiler = find_hipcc()
    KernelLibrary(..., device_compiler=hipcc(compiler, processors("gfx90a,gfx1030", compiler)))

Imports nothing but the standard library and the build's own; nothing is started but the compiler.
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
"""What ``all`` asks for, as far as the compiler knows it: MI50, MI200, MI300, and cards of the
generations RDNA 2, 3 and 4."""

_VERSION = re.compile(r"HIP version: (\d+)\.(\d+)\.(\d+)")
_PROCESSOR = re.compile(r"gfx[0-9a-f]{3,5}")


class HipccError(RuntimeError):
    """There is no hipcc, or it cannot be used; the message says what to install."""


@dataclass(frozen=True)
class Hipcc:
    """An hipcc that runs."""

    command: tuple[str, ...]
    version: int
    """As HIP numbers it: 50221153 is 5.2.21153."""

    def why_not(self, processor: str) -> str | None:
        """What it says against device code for a processor; None where it makes it."""
        with tempfile.TemporaryDirectory() as folder:
            target = str(Path(folder) / "code.o")
            flags = [f"--offload-arch={processor}", "-x", "hip", "-c", os.devnull, "-o", target]
            done = subprocess.run(
                [*self.command, *flags], capture_output=True, text=True, check=False
            )
        said = done.stderr.strip()
        return None if done.returncode == 0 else said.partition("\n")[0] or "it fails"


def find_hipcc(environ: Mapping[str, str] = os.environ) -> Hipcc:
    """The compiler that ``HIPCC`` names, or that of ``ROCM_PATH``, or of ``PATH``.

    :raises HipccError: there is none, or it does not run.
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
            "there is no hipcc, AMD's compiler: install ROCm, and put its hipcc into PATH or its "
            "folder into ROCM_PATH (on Debian: apt-get install --no-install-recommends hipcc "
            "libamdhip64-dev rocm-device-libs)"
        )
    # Where nvcc is installed too, hipcc would call that.
    command = ["env", "HIP_PLATFORM=amd", *command]
    try:
        done = subprocess.run(
            [*command, "--version"], capture_output=True, text=True, check=False, timeout=60
        )
    except OSError as error:
        raise HipccError(f"{shlex.join(command)} cannot be run: {error.strerror}") from error
    release = _VERSION.search(done.stdout)
    if done.returncode != 0 or release is None:
        raise HipccError(f"{shlex.join(command)} --version says no version: {done.stderr.strip()}")
    major, minor, patch = (int(part) for part in release.groups())
    return Hipcc(tuple(command), 10000000 * major + 100000 * minor + patch)


def processors(wanted: str, compiler: Hipcc) -> tuple[str, ...]:
    """The processors that a list asks for, without those of ``all`` that the compiler lacks.

    :param wanted: names separated by commas, ``gfx90a,gfx1030``, or ``all`` for :data:`ALL`.
    :raises ValueError: a name is none, or one that the compiler makes no code for.
    """
    if wanted == "all":
        known = tuple(name for name in ALL if compiler.why_not(name) is None)
        if not known:
            raise ValueError(f"the compiler makes code for none of {', '.join(ALL)}")
        return known
    found = tuple(dict.fromkeys(wanted.replace(" ", "").split(",")))
    for name in found:
        if not _PROCESSOR.fullmatch(name):
            raise ValueError(
                f"{name!r} in {wanted!r} is no processor; write gfx90a, several with commas, or "
                "all; rocminfo names that of a card"
            )
        if reason := compiler.why_not(name):
            raise ValueError(
                f"{shlex.join(compiler.command)} makes no code for {name}: {reason}; "
                "take a later ROCm, or leave it out"
            )
    return found


def hipcc(compiler: Hipcc, wanted: Sequence[str]) -> DeviceCompiler:
    """How kernels are compiled with it.

    :param wanted: as :func:`processors` gives them.
    """
    return DeviceCompiler(
        name="hipcc",
        command=compiler.command,
        suffix=".hip",
        flags=("-O3", *(f"--offload-arch={name}" for name in wanted)),
        host_flag="",
        # Clang makes no unique symbols.
        unknown=("-fno-gnu-unique",),
    )
