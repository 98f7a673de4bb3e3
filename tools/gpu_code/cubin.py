"""Machine code files: their kernels, and the resources of a multiprocessor that each needs."""

from __future__ import annotations

import re
import shutil
import struct
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tools.gpu_code.listing import Instruction, functions

USAGE = re.compile(r"Function (\S+):\s+REG:(\d+) STACK:(\d+) SHARED:(\d+)")
# Limits of compute capability 9.0.
REGISTERS, WARPS, BLOCKS, SHARED = 65536, 64, 32, 228 * 1024
RESERVED_SHARED = 1024  # bytes per block
MAX_THREADS = 5  # attribute with the launch bounds of a kernel
UNBOUNDED = 1024  # threads per block without launch bounds


class MissingToolError(RuntimeError):
    """A required program is not in PATH."""


def program(name: str) -> str:
    """Return the path of a CUDA tool.

    :raises MissingToolError: it is not in PATH.
    """
    found = shutil.which(name)
    if found is None:
        raise MissingToolError(
            f"{name} is not in PATH; `tools/nox -s gpu-code` installs it on Linux"
        )
    return found


def run(command: list[str], folder: Path | None = None) -> str:
    """Return the output of a tool, started in a folder.

    :raises RuntimeError: the tool failed; with its error message.
    """
    done = subprocess.run(
        command, capture_output=True, text=True, errors="replace", check=False, cwd=folder
    )
    if done.returncode != 0:
        raise RuntimeError(f"{Path(command[0]).name} failed: {done.stderr.strip()[:2000]}")
    return done.stdout


@dataclass(frozen=True)
class Resources:
    """Resources that one kernel needs.

    :ivar stack: bytes of local memory per thread, for spilled registers and local arrays.
    :ivar shared: bytes of static shared memory per block.
    :ivar threads: maximum number of threads per block.
    """

    registers: int
    stack: int
    shared: int
    threads: int

    @property
    def occupancy(self) -> float:
        """Return the fraction of a multiprocessor's warps that are resident, for blocks of maximum
        size."""
        warps = (self.threads + 31) // 32
        # Registers are allocated to a warp in units of 256.
        of_warp = -(-self.registers * 32 // 256) * 256
        limits = [BLOCKS, WARPS // warps, REGISTERS // of_warp // warps]
        limits.append(SHARED // (self.shared + RESERVED_SHARED))
        return min(limits) * warps / WARPS


@dataclass(frozen=True)
class Kernel:
    name: str
    instructions: list[Instruction]
    resources: Resources


def sections(image: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield names and contents of the sections of an ELF file.

    :raises ValueError: it is not an ELF file.
    """
    if image[:5] != b"\x7fELF\x02":
        raise ValueError("this is not a 64-bit ELF file")
    (table,) = struct.unpack_from("<Q", image, 40)
    size, count, names = struct.unpack_from("<HHH", image, 58)
    heads = [struct.unpack_from("<IIQQQQ", image, table + k * size) for k in range(count)]
    texts = heads[names][4]
    for name, kind, _, _, offset, length in heads:
        end = image.index(b"\0", texts + name)
        content = b"" if kind == 8 else image[offset : offset + length]
        yield image[texts + name : end].decode(), content


def kernel_names(path: Path) -> list[str]:
    """Return the mangled names of the functions in a machine code file."""
    prefix = ".text."
    return [
        name.removeprefix(prefix)
        for name, _ in sections(path.read_bytes())
        if name.startswith(prefix)
    ]


def launch_bounds(path: Path) -> dict[str, int]:
    """Return the maximum number of threads per block, for kernels with launch bounds."""
    found = {}
    prefix = ".nv.info."
    for name, content in sections(path.read_bytes()):
        if not name.startswith(prefix):
            continue
        at = 0
        while at + 4 <= len(content):
            kind, attribute, value = struct.unpack_from("<BBH", content, at)
            # Only attributes of kind 4 have contents, `value` bytes long.
            if kind == 4 and attribute == MAX_THREADS:
                x, y, z = struct.unpack_from("<III", content, at + 4)
                found[name.removeprefix(prefix)] = x * y * z
            at += 4 + (value if kind == 4 else 0)
    return found


def kernels(path: Path, names: Iterable[str]) -> Iterator[Kernel]:
    """Yield some kernels of a file, disassembled."""
    wanted = ",".join(names)
    cuobjdump = program("cuobjdump")
    used = {}
    usage = run([cuobjdump, "-res-usage", "-fun", wanted, str(path)])
    for name, registers, stack, shared in USAGE.findall(usage.replace("\n", " ")):
        used[name] = (int(registers), int(stack), int(shared))
    bounds = launch_bounds(path)
    listing = run([cuobjdump, "-sass", "-fun", wanted, str(path)])
    for name, instructions in functions(listing.splitlines()):
        resources = Resources(*used[name], bounds.get(name, UNBOUNDED))
        yield Kernel(name, instructions, resources)


def readable(names: Iterable[str]) -> Mapping[str, str]:
    """Return the demangled names by mangled name."""
    mangled = list(names)
    done = subprocess.run(
        [program("c++filt")], input="\n".join(mangled), capture_output=True, text=True, check=True
    )
    return dict(zip(mangled, done.stdout.splitlines(), strict=True))
