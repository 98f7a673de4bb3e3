"""Compile every C++ file of dl-core by itself, without code generation: ``tools/nox -s units``.

The build compiles several files as one unit (setup.py), in which a file may depend on an include of
another file. Here each file must compile alone.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from torch.utils.cpp_extension import get_cxx_compiler, include_paths

import diopi_proto

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "packages" / "core" / "csrc"
FLAGS = ("-fsyntax-only", "-std=c++20", "-fopenmp", "-Wall", "-Wno-unused-local-typedefs")


def problem(path: Path) -> str:
    """Return the compiler's errors about a file; empty if it accepts the file."""
    folders = (SOURCES, diopi_proto.include_dir(), *include_paths(), sysconfig.get_path("include"))
    command = (get_cxx_compiler(), *FLAGS, *(f"-I{folder}" for folder in folders), str(path))
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stderr if done.returncode != 0 else ""


def main() -> int:
    wanted = [Path(name).resolve() for name in sys.argv[1:]]
    files = wanted or sorted([*SOURCES.rglob("*.cpp"), *SOURCES.rglob("*.h")])
    failed = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for path, said in zip(files, pool.map(problem, files), strict=True):
            if said:
                failed += 1
                print(f"{path.relative_to(ROOT)} does not compile alone:\n{said}")
    print(f"{len(files) - failed} of {len(files)} files compile alone")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
