"""Build the fake operator library: libnnopbase.so, and libopapi.so or its parts."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from diopi_proto import include_dir as contract_dir

from .generate import MEANINGS, SHARES, STRUCTURE, export_script, generate, share_of

HERE = Path(__file__).parent
_SOURCES = ("objects", "numbers", "engine", "tensor", "binding", "overlap", "executor", "running")
_FLAGS = (
    "-std=c++17",
    "-O0",
    "-fPIC",
    "-fvisibility=hidden",
    "-pthread",
    "-Wall",
    "-Wextra",
    "-Werror",
)


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{shlex.join(command)}\n{done.stderr}")


def _compile(source: Path, target: Path, folders: Iterable[Path]) -> Path:
    compiler = shlex.split(os.environ.get("CXX", "g++"))
    includes = [f"-I{folder}" for folder in folders]
    _run([*compiler, *_FLAGS, *includes, "-c", str(source), "-o", str(target)])
    return target


def _link(objects: Iterable[Path], target: Path, *options: str) -> Path:
    compiler = shlex.split(os.environ.get("CXX", "g++"))
    names = (f"-Wl,-soname,{target.name}", "-Wl,-z,defs", "-Wl,-rpath,$ORIGIN")
    inputs = [str(path) for path in objects]
    _run([*compiler, "-shared", "-pthread", *inputs, "-o", str(target), *names, *options, "-ldl"])
    return target


def build_operators(
    folder: Path,
    *,
    runtime: Path,
    split: bool = False,
    missing: Iterable[str] = (),
    base: Path | None = None,
) -> Path:
    """Build the libraries into ``folder`` and return it.

    The operators compute with the contract library that FAKE_ACLNN_ENGINE names when a program
    first calls them.

    :param runtime: the fake libascendcl.so, which the libraries need.
    :param split: build libopapi_math.so and its like instead of libopapi.so.
    :param missing: functions that libopapi does not export.
    :param base: a libnnopbase.so that was built before; default: build it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    functions = generate(folder)
    folders = (folder, HERE, STRUCTURE, contract_dir())
    if base is None:
        sources = [HERE / f"{name}.cpp" for name in _SOURCES]
        sources += [folder / "dispatch.gen.cpp", *sorted(MEANINGS.glob("*.cpp"))]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            objects = list(
                pool.map(lambda x: _compile(x, folder / f"{x.stem}.o", folders), sources)
            )
        base = _link(objects, folder / "libnnopbase.so", str(runtime))
    entries = _compile(STRUCTURE / "functions.gen.cpp", folder / "entries.o", folders)
    exported = [name for name in functions if name not in set(missing)]
    libraries = {"libopapi": exported}
    if split:
        libraries = {
            f"libopapi_{share}": [name for name in exported if share_of(name) == share]
            for share in SHARES
        }
    for library, names in libraries.items():
        script = folder / f"{library}.map"
        script.write_text(export_script(names), encoding="utf-8")
        option = f"-Wl,--version-script={script}"
        _link([entries], folder / f"{library}.so", str(base), option)
    return folder
