"""A kernel tuned through msKPP's interface: ``python basic_matmul_autotune.py [M N K]``."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from helper.act_type import GemmCoord, RowMajor

import mskpp

HERE = Path(__file__).parent


def get_kernel(folder: str) -> Any:
    config = mskpp.KernelInvokeConfig(str(HERE / "basic_matmul.cpp"), "BasicMatmul")
    gen_file = mskpp.Launcher(config).code_gen(f"{folder}/_gen_launch.cpp")
    return mskpp.compile(
        build_script=str(HERE / "helper" / "jit_build.sh"),
        launch_src_file=gen_file,
        output_bin_path=f"{folder}/_gen_module.so",
    )


@mskpp.autotune(
    configs=[
        {"L1TileShape": "GemmShape<64, 64, 64>", "L0TileShape": "GemmShape<64, 64, 64>"},
        {"L1TileShape": "GemmShape<64, 64, 128>", "L0TileShape": "GemmShape<64, 64, 64>"},
        {"L1TileShape": "GemmShape<64, 128, 128>", "L0TileShape": "GemmShape<64, 128, 64>"},
        {"L1TileShape": "GemmShape<128, 128, 128>", "L0TileShape": "GemmShape<128, 128, 64>"},
        {"L1TileShape": "GemmShape<128, 64, 128>", "L0TileShape": "GemmShape<128, 64, 64>"},
    ],
    warmup=1000,
    repeat=10,
    device_ids=[0],
)
def basic_matmul(
    problem_shape: GemmCoord,
    a: Any,
    layout_a: RowMajor,
    b: Any,
    layout_b: RowMajor,
    c: Any,
    layout_c: RowMajor,
) -> None:
    # The parameters match the kernel's; its template deduces types from these arguments.
    blockdim = 4
    with tempfile.TemporaryDirectory() as folder:
        kernel = get_kernel(folder)
        kernel[blockdim](problem_shape, a, layout_a, b, layout_b, c, layout_c)


def main() -> None:
    m, n, k = map(int, sys.argv[1:4] or (256, 512, 1024))
    a = np.random.randint(1, 2, [m, k]).astype(np.half)
    b = np.random.randint(1, 2, [k, n]).astype(np.half)
    c = np.zeros([m, n]).astype(np.half)
    shapes = RowMajor(m, k), RowMajor(k, n), RowMajor(m, n)
    basic_matmul(GemmCoord(m, n, k), a, shapes[0], b, shapes[1], c, shapes[2])
    right = np.array_equal(c, np.matmul(a, b))
    print("compare {}.".format("success" if right else "failed"))


if __name__ == "__main__":
    main()
