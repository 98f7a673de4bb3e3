"""NVIDIA's compiler nvcc: its discovery, and its options in a vendor's build.

    KernelLibrary(..., device_compiler=nvcc(find_nvcc(), architectures("80,ptx90")))

Imports only the standard library and the build helpers; the only process that it starts is the
compiler.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from diopi_proto.build import DeviceCompiler

__all__ = ["ALL", "Architecture", "NvccError", "Toolkit", "architectures", "find_nvcc", "nvcc"]

WHEELS = ("nvidia-cuda-nvcc", "nvidia-cuda-runtime", "nvidia-cuda-crt", "nvidia-nvvm")
"""Packages to install with pip if there is no CUDA toolkit; all of the same version."""
ALL = "75,80,86,89,90,100,120,ptx120"
"""Architectures of a release: GPU generations that nvcc 13 supports, and PTX for later ones."""

_RELEASE = re.compile(r"release (\d+)\.(\d+)")
_ARCHITECTURE = re.compile(r"(?:(?:sm_)?|(?P<ptx>ptx|compute_))(?P<number>\d{2,3})")


class NvccError(RuntimeError):
    """nvcc is missing or unusable; the message says what to install."""


@dataclass(frozen=True)
class Architecture:
    """One kind of device code: machine code for a GPU generation, or PTX."""

    number: int
    """86 is compute capability 8.6."""
    ptx: bool

    @property
    def name(self) -> str:
        return f"{'compute' if self.ptx else 'sm'}_{self.number}"

    @property
    def flag(self) -> str:
        return f"-gencode=arch=compute_{self.number},code={self.name}"


@dataclass(frozen=True)
class Toolkit:
    """A working nvcc."""

    command: tuple[str, ...]
    version: int
    """The driver API's numbering: 13000 is CUDA 13.0."""


def architectures(wanted: str) -> tuple[Architecture, ...]:
    """Parse a list of kinds of device code; return machine code first.

    :param wanted: separated by commas: ``80`` or ``sm_80`` is machine code, ``ptx80`` or
        ``compute_80`` PTX; ``all`` is :data:`ALL`.
    :raises ValueError: the list contains anything else.
    """
    found = []
    for word in (ALL if wanted == "all" else wanted).replace(" ", "").split(","):
        match = _ARCHITECTURE.fullmatch(word)
        if match is None:
            raise ValueError(
                f"{word!r} in {wanted!r} is not an architecture; write 80 for machine code of "
                "compute capability 8.0, ptx80 for PTX, or all"
            )
        found.append(Architecture(int(match["number"]), match["ptx"] is not None))
    return tuple(sorted(dict.fromkeys(found), key=lambda one: (one.ptx, one.number)))


def find_nvcc(environ: Mapping[str, str] = os.environ) -> Toolkit:
    """Return the compiler named by ``NVCC``, or that of ``CUDA_HOME``, of NVIDIA's wheels in this
    environment, or of ``PATH``.

    :raises NvccError: none is installed, or it does not run.
    """
    command = _command(environ)
    if command is None:
        raise NvccError(
            "nvcc, NVIDIA's compiler, is not installed: install it with `pip install "
            f"{' '.join(WHEELS)}` (all of the same version, on Linux for x86_64 or aarch64), or "
            "CUDA's toolkit, and put its nvcc into PATH or its folder into CUDA_HOME"
        )
    try:
        done = subprocess.run(
            [*command, "--version"], capture_output=True, text=True, check=False, timeout=60
        )
    except OSError as error:
        raise NvccError(f"{shlex.join(command)} cannot be run: {error.strerror}") from error
    release = _RELEASE.search(done.stdout)
    if done.returncode != 0 or release is None:
        raise NvccError(f"{shlex.join(command)} --version prints no version: {done.stderr.strip()}")
    return Toolkit(tuple(command), 1000 * int(release[1]) + 10 * int(release[2]))


def _command(environ: Mapping[str, str]) -> list[str] | None:
    if named := shlex.split(environ.get("NVCC", "")):
        return named
    homes = [Path(home) for home in (environ.get("CUDA_HOME"), environ.get("CUDA_PATH")) if home]
    for folder in (*homes, *_wheel_folders()):
        if (folder / "bin" / "nvcc").is_file():
            return [str(folder / "bin" / "nvcc")]
    found = shutil.which("nvcc", path=environ.get("PATH"))
    return None if found is None else [found]


def _wheel_folders() -> list[Path]:
    """Return the folders of NVIDIA's installed wheels, the newest toolkit first."""
    package = importlib.util.find_spec("nvidia")
    folders = [] if package is None else list(package.submodule_search_locations or ())
    return sorted((path for folder in folders for path in Path(folder).glob("cu*")), reverse=True)


def nvcc(
    toolkit: Toolkit,
    code: Sequence[Architecture],
    *,
    shared_code: Sequence[Architecture] = (),
    compress: bool = True,
) -> DeviceCompiler:
    """Return the options with which nvcc compiles kernels.

    :param shared_code: further device code for the parts that families share: products,
        convolution and attention, which have different kernels for newer GPUs.
    :param compress: compress device code for size, to an eighth of nvcc's default; drivers for
        CUDA 12.4 and later can load it.
    """
    return DeviceCompiler(
        name="nvcc",
        command=toolkit.command,
        suffix=".cu",
        flags=(
            # Host code only launches kernels: -O3 takes twice as long and gains nothing. Device
            # code is always fully optimized.
            "-O1",
            "--expt-relaxed-constexpr",
            # A device call of a host-only function is only a warning by default.
            "-Werror=cross-execution-space-call",
            # Comparisons of unsigned elements with 0, and loops that an instance never enters.
            "-diag-suppress=186,128",
            *(one.flag for one in code),
            f"--compress-mode={'size' if compress else 'none'}",
        ),
        further={"part_": tuple(one.flag for one in shared_code if one not in code)},
    )
