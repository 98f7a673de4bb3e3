"""The emulated GPU as a vendor library: built once from every family of operators."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from os import cpu_count, environ
from pathlib import Path

from diopi_proto import include_dir as contract_dir
from dl_kernels import include_dir, write_units

EMULATION = Path(__file__).parent / "emulation"
EMULATED_GPU = ['-DDL_KERNELS_MACHINE="gpu_emulation.h"', f"-I{EMULATION}"]
"""Flags that select the GPU path with the emulation as the GPU."""

COMPILER = shlex.split(environ.get("CXX", "g++"))
FLAGS = ["-std=c++17", "-O0", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra", *EMULATED_GPU]
CHECKED = ["-fsanitize=thread", "--param=tsan-distinguish-volatile=1", "-g1", "-Wno-tsan"]
"""Flags that instrument the accesses of a unit: ``emulation/watch.h``."""
FOLDERS = [f"-I{include_dir()}", f"-I{contract_dir()}"]


SHAPE = environ.get("DL_EMULATION_SHAPE", "64/32")
"""Threads per block and per warp."""


def shape_flags(shape: str = SHAPE) -> list[str]:
    """Return the flags that define the machine's shape, which every unit needs.

    :raises ValueError: the shape is not two numbers separated by a slash.
    """
    block, warp = map(int, shape.split("/"))
    return [f"-DDL_EMULATION_BLOCK_THREADS={block}", f"-DDL_EMULATION_WARP_THREADS={warp}"]


def missing_compiler() -> str | None:
    """Return why nothing can be built here, or None if it can."""
    return None if shutil.which(COMPILER[0]) else f"no C++ compiler {COMPILER[0]!r} in PATH"


def compile_object(source: Path, to: Path, *flags: str, shape: str = SHAPE) -> None:
    """Compile a file; `flags` come first, so that their include folders take precedence."""
    command = [
        *COMPILER,
        *flags,
        *FLAGS,
        *shape_flags(shape),
        *FOLDERS,
        "-c",
        str(source),
        "-o",
        str(to),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{source.name} does not compile for the emulated GPU:\n{done.stderr}")


def build_vendor(folder: Path, only: Iterable[str] | None = None) -> Path:
    """Build the vendor library in a folder and return its path.

    :param only: families of operators; the families that they use are added. None: all.
    """
    jobs: list[tuple[Path, Path, tuple[str, ...]]] = []
    watched = CHECKED if environ.get("DL_EMULATION_WATCHED") == "1" else ()
    for source in write_units(folder / "units", only=only, gpu=True, together=4):
        jobs.append((source, folder / f"{source.stem}.o", tuple(watched)))
    for source in sorted(EMULATION.glob("*.cpp")):
        jobs.append((source, folder / f"emulation_{source.stem}.o", ("-O1",)))
    with ThreadPoolExecutor(cpu_count()) as pool:
        for done in [pool.submit(compile_object, *job[:2], *job[2]) for job in jobs]:
            done.result()
    objects = [to for _, to, _ in jobs]
    library = folder / "libdl_emulated_gpu.so"
    link = [*COMPILER, "-shared", "-Wl,-z,defs", "-o", str(library), *map(str, objects)]
    subprocess.run(link, check=True)
    return library
