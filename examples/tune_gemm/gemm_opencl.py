"""The same product for OpenCL devices:
``dl tune kernel examples/tune_gemm/gemm_opencl.py --vendor opencl``.
"""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

from dl_autotune import Launch, SearchSpace, TunableKernel

HERE = Path(__file__).parent
# Same arguments and reference as for the C++ kernel.
PRODUCT = runpy.run_path(str(HERE / "gemm.py"))["kernel"]

space = SearchSpace(
    {
        "GROUP_X": [4, 8, 16, 32],
        "GROUP_Y": [4, 8, 16],
        "ROWS": [1, 2, 4, 8],
        "COLUMNS": [1, 2, 4, 8],
        "DEPTH": [8, 16, 32],
    },
    constraints=["GROUP_X * GROUP_Y <= 256", "ROWS * COLUMNS <= 32"],
)


def launch(config: Any, shape: Any) -> Launch:
    tile_m, tile_n = config["GROUP_Y"] * config["ROWS"], config["GROUP_X"] * config["COLUMNS"]
    return Launch(
        grid=(-(-shape["n"] // tile_n), -(-shape["m"] // tile_m)),
        block=(config["GROUP_X"], config["GROUP_Y"]),
    )


kernel = TunableKernel(
    source=HERE / "gemm.cl",
    function="gemm",
    space=space,
    default={"GROUP_X": 8, "GROUP_Y": 8, "ROWS": 2, "COLUMNS": 2, "DEPTH": 16},
    arguments=PRODUCT.arguments,
    outputs=PRODUCT.outputs,
    reference=PRODUCT.reference,
    launch=launch,
    shape=PRODUCT.shape,
    checks=PRODUCT.checks,
    options=["-cl-std=CL1.2"],
)
