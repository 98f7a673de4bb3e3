"""Tests that every header compiles alone and that no kernel uses OpenMP."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from os import environ
from pathlib import Path

import pytest

from diopi_proto import include_dir as contract_dir
from dl_conformance.catalog import in_sample
from dl_conformance.commit_seed import commit_seed
from dl_kernels import include_dir
from emulated import EMULATED_GPU

ROOT = include_dir() / "dl_kernels"
# Headers that need the compilers of their machines, which the session `kernels-gpu` has.
FOREIGN = {
    "dl_kernels/machine/cuda.h",
    "dl_kernels/machine/hip.h",
    # Code for tensor cores.
    "dl_kernels/machine/cuda_matrix.h",
    "dl_kernels/gpu/attention_backward_tensor.h",
    "dl_kernels/gpu/attention_float_rows.h",
    "dl_kernels/gpu/attention_rows.h",
    "dl_kernels/gpu/attention_tensor.h",
    "dl_kernels/gpu/product_tensor.h",
}
API = "dl_kernels/machine/runtime_api.h"  # included by both
HEADERS = sorted(
    {str(path.relative_to(ROOT.parent)) for path in ROOT.rglob("*.h")} - FOREIGN - {API}
)
COMPILER = shlex.split(environ.get("CXX", "g++"))
ONE_OF = 4


def sampled_headers() -> list[str]:
    """Return a quarter of the headers, different for each commit; DL_TEST_SAMPLE=1 selects all."""
    if environ.get("DL_TEST_SAMPLE") == "1":
        return HEADERS
    seed = int(commit_seed(Path(__file__).parent), 16)
    return [header for header in HEADERS if in_sample(header, ONE_OF, seed)]


@pytest.mark.skipif(shutil.which(COMPILER[0]) is None, reason="no C++ compiler")
def test_every_header_compiles_alone(tmp_path: Path) -> None:
    flags = ["-std=c++17", "-fsyntax-only", "-Wall", "-Wextra", "-Werror"]
    folders = [f"-I{include_dir()}", f"-I{contract_dir()}"]
    broken = []
    for header in sampled_headers():
        source = tmp_path / "alone.cpp"
        source.write_text(f'#include "{header}"\n', encoding="utf-8")
        machine = EMULATED_GPU if "/gpu/" in header else []
        done = subprocess.run(
            [*COMPILER, *flags, *machine, *folders, str(source)],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            broken.append(f"{header}:\n{done.stderr}")
    assert not broken, "\n".join(broken)


def test_no_kernel_uses_openmp() -> None:
    for path in ROOT.rglob("*"):
        if path.is_file():
            assert "omp" not in re.findall(r"#pragma (\w+)", path.read_text(encoding="utf-8")), path
