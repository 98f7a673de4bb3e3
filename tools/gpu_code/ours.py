"""Kernels of dl-kernels, compiled for one GPU: only requested ones are compiled to machine code.

nvcc compiles a family to PTX without the host code, and ptxas compiles the kernels with matching
names to machine code.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from tools.gpu_code.cubin import program, run

ROOT = Path(__file__).parents[2]
INCLUDES = [ROOT / "packages/kernels/include", ROOT / "packages/diopi-proto/include"]
ENTRY = re.compile(r"^\s*(?:\.visible\s+|\.weak\s+)*\.entry\s+([\w$]+)", re.MULTILINE)
SPILLS = re.compile(
    r"Function properties for (\S+)\s+\d+ bytes stack frame, (\d+) bytes spill stores, "
    r"(\d+) bytes spill loads"
)
ARCHITECTURE = "90"


def nvcc() -> list[str]:
    """Return the nvcc command.

    :raises MissingToolError: nvcc is not available.
    """
    if "NVCC" in os.environ:
        return shlex.split(os.environ["NVCC"])
    return [program("nvcc")]


def units(folder: Path, families: Iterable[str]) -> dict[str, Path]:
    """Return the sources of some families, and of parts that families share (``part_gemm``), by
    name."""
    # The session has a compiler and none of our packages.
    sys.path[:0] = [str(ROOT / f"packages/{name}/src") for name in ("kernels", "diopi-proto")]
    from dl_kernels import write_units

    wanted = sorted(families)
    # In a folder of its own, because other files would be treated as units of an earlier run.
    written = write_units(str(folder / "units"), suffix=".cu")
    found = {unit.stem.removeprefix("family_"): unit for unit in written if unit.suffix == ".cu"}
    return {name: found[name] for name in wanted}


def ptx(source: Path) -> Path:
    """Compile a source to PTX, without the host code."""
    made = source.parents[1] / f"{source.stem.removeprefix('family_')}.ptx"
    flags = ["-std=c++17", "--expt-relaxed-constexpr", f"-arch=compute_{ARCHITECTURE}", "-ptx"]
    run([*nvcc(), *flags, *(f"-I{path}" for path in INCLUDES), str(source), "-o", str(made)])
    return made


def entries(code: Path) -> list[str]:
    """Return the mangled names of the kernels in PTX."""
    return ENTRY.findall(code.read_text("utf-8"))


def assemble(code: Path, names: Iterable[str]) -> tuple[Path, dict[str, int]]:
    """Compile some kernels to machine code; also return the bytes that each spills, if any."""
    made = code.with_suffix(".cubin")
    command = [assembler(), "-v", f"-arch=sm_{ARCHITECTURE}"]
    command += [f"--entry={','.join(names)}", str(code), "-o", str(made)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"ptxas failed for {code.name}: {done.stderr.strip()[:2000]}")
    return made, spills(done.stderr)


def spills(said: str) -> dict[str, int]:
    """Return the bytes that kernels spill, from the output of ptxas ``-v``; only kernels that
    spill."""
    found = {name: int(s) + int(x) for name, s, x in SPILLS.findall(re.sub(r"\n\s+", " ", said))}
    return {name: count for name, count in found.items() if count}


def assembler() -> str:
    """Return ptxas, which is next to nvcc or in PATH."""
    beside = Path(nvcc()[-1]).with_name("ptxas")
    return str(beside) if beside.exists() else program("ptxas")
