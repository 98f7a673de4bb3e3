"""Shared helpers: PTX around a kernel body, one-line kernels, and nvcc if it is installed."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

HEADER = ".version 8.0\n.target sm_80\n.address_size 64\n"
REGISTERS = """
  .reg .pred %p<20>; .reg .b16 %h<20>; .reg .b32 %r<40>; .reg .b64 %rd<40>;
  .reg .f32 %f<40>; .reg .f64 %fd<20>;
"""

NVCC = shutil.which("nvcc")
needs_nvcc = pytest.mark.skipif(NVCC is None, reason="nvcc is not in PATH")


def kernel(body: str, parameters: str = ".param .u64 a", before: str = "") -> str:
    """Return a PTX text with a kernel ``k`` that has registers %r1, %rd1, %f1, …; %r0 is %tid.x."""
    return (
        f"{HEADER}{before}\n.visible .entry k({parameters})\n{{{REGISTERS}"
        f"  mov.u32 %r0, %tid.x;\n{body}\n  ret;\n}}\n"
    )


def addresses(count: int, bytes_each: Sequence[int]) -> str:
    """Return code that stores the addresses of the thread's array elements in %rd1, %rd2, …"""
    lines = []
    for i in range(count):
        lines += [
            f"ld.param.u64 %rd{i + 1}, [p{i}];",
            f"mad.wide.u32 %rd{i + 1}, %r0, {bytes_each[i]}, %rd{i + 1};",
        ]
    return "\n".join(lines)


@pytest.fixture(scope="session")
def compile_cuda(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[str, Path]]:
    """Return a function that compiles CUDA to PTX with lines, and returns text and source path."""

    def compile_one(source: str) -> tuple[str, Path]:
        folder = tmp_path_factory.mktemp("cuda")
        path = folder / "kernels.cu"
        path.write_text(source)
        command = [str(NVCC), "-ptx", "-lineinfo", "-arch=compute_80", str(path)]
        subprocess.run([*command, "-o", str(folder / "kernels.ptx")], check=True)
        return (folder / "kernels.ptx").read_text(), path

    return compile_one


def apply(code: str, arrays: Sequence[np.ndarray[Any, Any]], dtype: Any) -> np.ndarray[Any, Any]:
    """Run ``code`` for each element, with inputs %x0, %x1, … and result %y as untyped bits."""
    from dl_gpu_sim import Module

    length = len(arrays[0])
    result = np.zeros(length, dtype)
    widths = [array.dtype.itemsize for array in arrays]
    width = result.dtype.itemsize
    parameters = ", ".join(f".param .u64 p{i}" for i in range(len(arrays) + 1))

    def register(bytes_each: int) -> int:
        return max(bytes_each, 2) * 8

    declared = "".join(
        f".reg .b{register(w)} %x{i};\nld.global.b{w * 8} %x{i}, [%rd{i + 1}];\n"
        for i, w in enumerate(widths)
    )
    body = (
        addresses(len(arrays) + 1, [*widths, width])
        + f"\n.reg .b{register(width)} %y;\n{declared}{code}\n"
        + f"st.global.b{width * 8} [%rd{len(arrays) + 1}], %y;"
    )
    given = [np.ascontiguousarray(array) for array in arrays]
    assert length <= 1024
    with Module(kernel(body, parameters)) as module:
        done = module.launch("k", 1, length, [*given, result])
    assert done.outcome == "done" and done.findings == ()
    return result
