"""Build the fake libascendcl.so, on whose devices the other fakes of CANN's libraries work."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from diopi_proto import include_dir as contract_dir

HERE = Path(__file__).parent
PACKAGES = HERE.parents[4]
FOLDERS = (
    PACKAGES / "vendor-ascend" / "csrc",
    PACKAGES / "vendor-kit" / "include",
    contract_dir(),
)
"""Folders of headers: the vendor's declarations of CANN's functions, and what they include."""
_FLAGS = ("-std=c++17", "-O0", "-fPIC", "-fvisibility=hidden", "-pthread", "-Wall", "-Wextra")


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{shlex.join(command)}\n{done.stderr}")


def build_library(target: Path, sources: Iterable[Path], *flags: str) -> Path:
    """Compile sources into a shared library with the name of its file.

    :param flags: macros, and libraries to link.
    :raises RuntimeError: the compiler fails; the message has its output.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    compiler = shlex.split(os.environ.get("CXX") or "g++")
    includes = [f"-I{folder}" for folder in FOLDERS]
    macros = [flag for flag in flags if flag.startswith("-D")]
    others = [flag for flag in flags if flag not in macros]

    def compiled(source: Path) -> str:
        made = target.with_name(f"{target.stem}-{source.stem}.o")
        _run([*compiler, *_FLAGS, *macros, *includes, "-c", str(source), "-o", str(made)])
        return str(made)

    # Each source alone, so that a compiler cache applies.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = list(pool.map(compiled, sources))
    named = (f"-Wl,-soname,{target.name}", "-Wl,-rpath,$ORIGIN", "-Wl,-z,defs")
    _run([*compiler, "-shared", "-pthread", *objects, "-o", str(target), *named, *others, "-ldl"])
    for path in objects:
        Path(path).unlink()
    return target


def build_runtime(folder: Path, *flags: str) -> Path:
    """Build the runtime and return its path, ``<folder>/libascendcl.so``."""
    return build_library(folder / "libascendcl.so", sorted(HERE.glob("*.cpp")), *flags)


def build_hccl(folder: Path, *flags: str, runtime: Path) -> Path:
    """Build the library of collectives and return its path, ``<folder>/libhccl.so``."""
    sources = sorted((HERE.parent / "hccl").glob("*.cpp"))
    return build_library(folder / "libhccl.so", sources, *flags, str(runtime))
