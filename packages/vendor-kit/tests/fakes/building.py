"""Compile and link fake libraries."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

COMPUTING = Path(__file__).parent / "computing"
"""Sources of the tensors with which fake operator libraries compute."""
_FLAGS = ("-std=c++17", "-O0", "-fPIC", "-fvisibility=hidden", "-pthread", "-Wall", "-Wextra")


def run(command: Sequence[str]) -> None:
    """Run a command.

    :raises RuntimeError: it fails; the message has its output.
    """
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{shlex.join(command)}\n{done.stderr}")


def compiler() -> list[str]:
    return shlex.split(os.environ.get("CXX") or "g++")


def compile_source(source: Path, target: Path, folders: Iterable[Path], *flags: str) -> Path:
    """Compile one source and return the object file."""
    includes = [f"-I{folder}" for folder in folders]
    run([*compiler(), *_FLAGS, *flags, *includes, "-c", str(source), "-o", str(target)])
    return target


def compile_sources(
    sources: Iterable[Path], folder: Path, folders: Iterable[Path], *flags: str
) -> list[Path]:
    """Compile sources, each alone, so that a compiler cache applies; return the object files."""
    searched = list(folders)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(
            pool.map(
                lambda source: compile_source(
                    source, folder / f"{source.parent.name}-{source.stem}.o", searched, *flags
                ),
                sources,
            )
        )


def link(objects: Iterable[Path], target: Path, *options: str) -> Path:
    """Link a shared library with the name of its file, which finds other libraries next to it."""
    named = (f"-Wl,-soname,{target.name}", "-Wl,-z,defs", "-Wl,-rpath,$ORIGIN")
    inputs = [str(path) for path in objects]
    run([*compiler(), "-shared", "-pthread", *inputs, "-o", str(target), *named, *options, "-ldl"])
    return target


def build_library(
    target: Path, sources: Iterable[Path], folders: Iterable[Path], *flags: str
) -> Path:
    """Compile sources into a shared library.

    :param folders: folders of headers.
    :param flags: macros, and libraries to link.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    macros = [flag for flag in flags if flag.startswith("-D")]
    objects = compile_sources(sources, target.parent, folders, *macros)
    link(objects, target, *(flag for flag in flags if flag not in macros))
    for path in objects:
        path.unlink()
    return target
