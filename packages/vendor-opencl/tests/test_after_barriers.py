"""Form of the kernels for devices without sub-groups, which PoCL divides at barriers.

PoCL 6 takes the code after a barrier for unreachable if it begins with a loop, inside a loop that
carries a value. These tests only compile kernels, and need no PoCL.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

import diopi_proto

spirv = pytest.importorskip("dl_kernels.spirv")
spirv_spaces = pytest.importorskip("dl_kernels.spirv_spaces")

PACKAGES = Path(__file__).parents[2]
THREADS = 256
SOURCE = """\
#include "dl_kernels/gpu/cumulative_rows.h"
DL_KERNELS_BEGIN
namespace gpu {
template DL_KERNEL void row_kernel<CumulativePiece<float>>(int64_t, bool, CumulativePiece<float>);
template DL_KERNEL void row_kernel<CumulativePiece<double>>(int64_t, bool, CumulativePiece<double>);
}
DL_KERNELS_END
"""
BARRIER = "@_Z7barrierj("


def compile_kernels(folder: Path, headers: Path) -> str:
    """Return the kernels in LLVM's assembly, as they are translated to SPIR-V."""
    try:
        tools = spirv.find_spirv_tools(os.environ)
    except spirv.SpirvError as error:
        pytest.skip(str(error))
    source = folder / "unit.hip"
    source.write_text(SOURCE, encoding="utf-8")
    own = PACKAGES / "vendor-opencl" / "csrc"
    command = (
        *(tools.clang, "-x", "hip", "--offload=spirv64", "-nogpuinc", "-nogpulib"),
        *("--cuda-device-only", "-std=c++17", "-O2", "-S", "-emit-llvm"),
        *("-Xclang", "-no-opaque-pointers", "-include", str(own / "machine" / "prelude.h")),
        *(f"-DDL_OPENCL_GROUP_THREADS={THREADS}", f"-DDL_SPIRV_WARP_THREADS={THREADS}"),
        '-DDL_KERNELS_MACHINE="machine/opencl.h"',
        *(f"-I{each}" for each in (headers, own, PACKAGES / "vendor-kit" / "include")),
        *(f"-I{diopi_proto.include_dir()}", str(source), "-o", "-"),
    )
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return str(spirv_spaces.infer_spaces(done.stdout, tools.optimize))


def loops_after_barriers(text: str) -> list[str]:
    """Return the lines that lead from a block with a barrier to a loop of one block without one."""
    found = []
    for function in re.findall(r"^define .*?^}", text, re.MULTILINE | re.DOTALL):
        parts = re.split(r"^([\w.]+):.*\n", function, flags=re.MULTILINE)
        blocks = {"": parts[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}
        targets = {
            name: [
                x
                for line in re.findall(r"^  br .*", block, re.MULTILINE)
                for x in re.findall(r"label %([\w.]+)", line)
            ]
            for name, block in blocks.items()
        }
        for name, block in blocks.items():
            if BARRIER not in block:
                continue
            found += [
                f"{name} -> {target}"
                for target in targets[name]
                if target in targets[target] and BARRIER not in blocks[target]
            ]
    return found


def test_no_loop_follows_a_barrier(tmp_path: Path) -> None:
    text = compile_kernels(tmp_path, PACKAGES / "kernels" / "include")
    assert text.count(BARRIER) > 2
    assert loops_after_barriers(text) == []


def test_a_loop_after_a_barrier_is_noticed() -> None:
    text = """\
define spir_kernel void @k(i32 %0) {
  call void @_Z7barrierj(i32 3)
  br label %2
2:                                                ; preds = %2, %1
  %3 = icmp slt i32 %0, 7
  br i1 %3, label %2, label %4
4:                                                ; preds = %2
  ret void
}
"""
    assert loops_after_barriers(text) == [" -> 2"]
