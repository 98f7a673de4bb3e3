"""A kernel with seven candidates: a slow one, a fast one, and five that fail."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from diopi_proto.tolerance import OpClass
from dl_autotune import Expected, Launch, SearchSpace, TunableKernel


def arguments(shape: Any, rng: np.random.Generator) -> dict[str, Any]:
    count = shape["count"]
    return {
        "a": rng.standard_normal(count, dtype=np.float32),
        "b": np.empty(count, dtype=np.float32),
        "count": np.int64(count),
    }


def reference(given: Any) -> dict[str, Expected]:
    return {"b": Expected(2 * given["a"].astype(np.float64), OpClass.ROUNDING)}


kernel = TunableKernel(
    source=Path(__file__).with_name("twice.cpp"),
    function="twice",
    space=SearchSpace({"MODE": range(7)}),
    default={"MODE": 0},
    arguments=arguments,
    outputs=["b"],
    reference=reference,
    launch=lambda config, shape: Launch(),
    shape={"count": 20000},
    checks=[{"count": 1}, {"count": 37}],
    options=["-O1"],
)
