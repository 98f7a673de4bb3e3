"""Compile the operators of dl-kernels with the GPU compilers in PATH; print how to get missing
compilers.

nvcc compiles every family to intermediate code, because only then does it notice calls of host
functions. ``--objects`` compiles to machine code.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

ROOT = Path(__file__).parents[1]
INCLUDES = [ROOT / "packages/kernels/include", ROOT / "packages/diopi-proto/include"]
# The session has a compiler and none of our packages.
sys.path[:0] = [str(ROOT / f"packages/{name}/src") for name in ("kernels", "diopi-proto")]

from dl_kernels import write_units  # noqa: E402


@dataclass(frozen=True)
class GpuCompiler:
    """Command of one compiler, and its origin. `check` stops early, `code` does not."""

    name: str
    source: str
    suffix: str
    flags: tuple[str, ...]
    check: tuple[str, ...]
    code: tuple[str, ...]
    environment: tuple[tuple[str, str], ...] = ()


COMPILERS = (
    GpuCompiler(
        "nvcc",
        "`tools/nox -s kernels-gpu` installs it on Linux",
        ".cu",
        # A kernel that calls a host function would compile with a warning.
        ("-std=c++17", "--expt-relaxed-constexpr", "-Werror=cross-execution-space-call"),
        ("-arch=compute_80", "-ptx"),
        ("-gencode=arch=compute_80,code=sm_80", "-gencode=arch=compute_90,code=sm_90", "-c"),
    ),
    # Without a platform it would search for nvcc, and without an architecture for a GPU.
    GpuCompiler(
        "hipcc",
        "on Debian: apt-get install --no-install-recommends hipcc libamdhip64-dev rocm-device-libs",
        ".hip",
        ("-std=c++17", "--offload-arch=gfx90a", "-Wall"),
        ("-fsyntax-only",),
        ("-c",),
        (("HIP_PLATFORM", "amd"),),
    ),
)


def compile_family(compiler: GpuCompiler, source: Path, *, objects: bool) -> str:
    """Compile the unit of a family; return the error, or an empty string."""
    command = [compiler.name, *compiler.flags, *(compiler.code if objects else compiler.check)]
    command += [f"-I{path}" for path in INCLUDES]
    command += [str(source), "-o", str(source.with_suffix(".out"))]
    environment = {**os.environ, **dict(compiler.environment)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    return "" if done.returncode == 0 else done.stderr


def main() -> int:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--objects", action="store_true", help="compile to machine code as well")
    names = [compiler.name for compiler in COMPILERS]
    parser.add_argument("--compiler", choices=names, help="compiler to use (default: all in PATH)")
    parser.add_argument("families", nargs="*", help="names of families (default: all)")
    options = parser.parse_args()
    failures = 0
    for compiler in COMPILERS:
        if options.compiler not in (None, compiler.name):
            continue
        if shutil.which(compiler.name) is None:
            print(f"{compiler.name}: skipped, it is not in PATH; {compiler.source}", flush=True)
            continue
        with (
            tempfile.TemporaryDirectory() as folder,
            ThreadPoolExecutor(os.cpu_count()) as pool,
        ):
            units = write_units(folder, suffix=compiler.suffix, only=options.families or None)
            of_families = [unit for unit in units if unit.suffix == compiler.suffix]
            compile_one = partial(compile_family, compiler, objects=options.objects)
            for unit, error in zip(of_families, pool.map(compile_one, of_families), strict=True):
                failures += 1 if error else 0
                verdict = f"failed\n{error}" if error else "ok"
                name = unit.stem.removeprefix("family_")
                print(f"{compiler.name}: {name}: {verdict}", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
