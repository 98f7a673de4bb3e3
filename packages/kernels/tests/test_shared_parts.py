"""The parts that families share compile for the oldest cards, whose tensor cores know fewer types.

A build for one later kind of card, as that of CI, compiles none of it.
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
    # What is wrong shows before anything is optimised.
    quick = ["-ptx", "-Xcicc", "-O0", "-o", str(source.with_suffix(".ptx"))]
    command = [*compiler.compile_command(source.name), *folders, *quick, str(source)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("part", PARTS, ids=lambda path: path.stem)
def test_a_part_compiles_for_turing(part: Path, tmp_path: Path) -> None:
    source = tmp_path / "part.cu"
    source.write_text(f'#include "dl_kernels/gpu/parts/{part.name}"\n', encoding="utf-8")
    done = compiled(source)
    assert done.returncode == 0, done.stderr


def test_what_does_not_compile_for_turing_is_noticed(tmp_path: Path) -> None:
    source = tmp_path / "part.cu"
    source.write_text(
        "__global__ void kernel() {\n"
        "#if __CUDA_ARCH__ < 800\n"
        '  static_assert(sizeof(int) == 2, "for later cards");\n'
        "#endif\n"
        "}\n",
        encoding="utf-8",
    )
    assert "for later cards" in compiled(source).stderr
