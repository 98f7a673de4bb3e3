"""A matrix product to tune: ``dl tune kernel examples/tune_gemm/gemm.py``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from diopi_proto.tolerance import OpClass, matmul_magnitude
from dl_autotune import Expected, Launch, SearchSpace, TunableKernel

space = SearchSpace(
    {
        "TILE_M": [8, 16, 32, 64, 128],
        "TILE_N": [16, 32, 64, 128, 256],
        "TILE_K": [16, 32, 64, 128, 256],
        "ROWS": [1, 2, 4, 6, 8],
        "LANES": [4, 8, 16, 32],
    },
    constraints=["ROWS <= TILE_M", "LANES <= TILE_N", "ROWS * LANES <= 128"],
    resources={
        "cached_bytes": lambda TILE_M, TILE_N, TILE_K: 4 * TILE_K * (TILE_M + TILE_N),  # noqa: N803
    },
)


def arguments(shape: Any, rng: np.random.Generator) -> dict[str, Any]:
    m, n, k = shape["m"], shape["n"], shape["k"]
    return {
        "a": rng.standard_normal((m, k), dtype=np.float32),
        "b": rng.standard_normal((k, n), dtype=np.float32),
        "c": np.empty((m, n), dtype=np.float32),
        "m": np.int64(m),
        "n": np.int64(n),
        "k": np.int64(k),
    }


def reference(given: Any) -> dict[str, Expected]:
    a, b = given["a"], given["b"]
    product = a.astype(np.float64) @ b.astype(np.float64)
    return {"c": Expected(product, OpClass.MATMUL, a.shape[1], matmul_magnitude(a, b))}


def launch(config: Any, shape: Any) -> Launch:
    columns, rows = -(-shape["n"] // config["TILE_N"]), -(-shape["m"] // config["TILE_M"])
    return Launch(grid=(columns, rows))


kernel = TunableKernel(
    source=Path(__file__).with_name("gemm.cpp"),
    function="gemm",
    space=space,
    default={"TILE_M": 32, "TILE_N": 32, "TILE_K": 32, "ROWS": 4, "LANES": 8},
    arguments=arguments,
    outputs=["c"],
    reference=reference,
    launch=launch,
    shape={"m": 256, "n": 256, "k": 256},
    checks=[{"m": 1, "n": 1, "k": 1}, {"m": 19, "n": 37, "k": 65}, {"m": 130, "n": 131, "k": 3}],
)
