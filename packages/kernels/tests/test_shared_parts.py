"""Shared parts compile for the oldest GPUs, whose tensor cores support fewer types.

A build for a single later architecture, as in CI, compiles no code for them.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import diopi_proto
import dl_kernels
from dl_kernels.nvcc import NvccError, architectures, find_nvcc, nvcc

PARTS = sorted((Path(dl_kernels.include_dir()) / "dl_kernels" / "gpu" / "parts").glob("*.inc"))


def compiled(source: Path) -> subprocess.CompletedProcess[str]:
    try:
        compiler = nvcc(find_nvcc(), architectures("ptx75"), compress=False)
    except NvccError as error:
        pytest.skip(str(error))
    folders = [f"-I{path}" for path in (dl_kernels.include_dir(), diopi_proto.include_dir())]
    # Errors are reported before any optimization.
    quick = ["-ptx", "-Xcicc", "-O0", "-o", str(source.with_suffix(".ptx"))]
    command = [*compiler.compile_command(source.name), *folders, *quick, str(source)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("part", PARTS, ids=lambda path: path.stem)
def test_a_part_compiles_for_turing(part: Path, tmp_path: Path) -> None:
    source = tmp_path / "part.cu"
    source.write_text(f'#include "dl_kernels/gpu/parts/{part.name}"\n', encoding="utf-8")
    done = compiled(source)
    assert done.returncode == 0, done.stderr


def test_code_that_fails_for_turing_is_noticed(tmp_path: Path) -> None:
    source = tmp_path / "part.cu"
    source.write_text(
        "__global__ void kernel() {\n"
        "#if __CUDA_ARCH__ < 800\n"
        '  static_assert(sizeof(int) == 2, "for later GPUs");\n'
        "#endif\n"
        "}\n",
        encoding="utf-8",
    )
    assert "for later GPUs" in compiled(source).stderr
