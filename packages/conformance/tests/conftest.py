"""Fixtures that build libraries in C, and a fixed CPU capability for torch's kernels."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import diopi_proto

# Read on import of torch, so that its results match the list of test_torch_cpu on every machine.
# torch warns of these values on other processors.
if platform.machine() == "x86_64":
    os.environ.setdefault("ATEN_CPU_CAPABILITY", "avx2")
    os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX2")

FLAGS = ("-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror")


@pytest.fixture(scope="session")
def compile_c(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Compile a C file to a shared library."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")

    def compiled(source: Path, *flags: str) -> Path:
        path = tmp_path_factory.mktemp("library") / f"lib{source.stem}.so"
        include = f"-I{diopi_proto.include_dir()}"
        command = [compiler, *FLAGS, *flags, include, str(source), "-o", str(path)]
        subprocess.run(command, check=True)
        return path

    return compiled


@pytest.fixture(scope="session")
def library(compile_c: Callable[..., Path]) -> Path:
    """Return the path of a library that crashes, hangs and overruns."""
    return compile_c(Path(__file__).with_name("isolation.c"))
