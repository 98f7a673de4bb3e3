"""Tests of cumulative sums."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from converted_sums import CONVERSIONS, check_converted_sums
from diopi_proto import Vendor
from diopi_proto.tolerance import OpClass, Order
from suite import check_cases
from support import FLOATS, LAYOUTS, NUMBERS, check, numbers, out_like, place


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int32"])
@pytest.mark.parametrize("rows", [1, 3, 4, 5, 8])
@pytest.mark.parametrize("n", [1, 63, 64, 65, 200])
def test_cumsum_of_rows_of_every_length(vendor: Vendor, dtype: str, rows: int, n: int) -> None:
    values = numbers((rows, n), "int8", 81, -1, 1)  # sums are exact in every dtype
    a, x = place(vendor, values, dtype)
    kind = dtype if dtype in FLOATS else "int64"
    out = out_like(vendor, (rows, n), kind)
    vendor.op.Cumsum(out, a, 1)
    check(out, np.cumsum(x, axis=1), OpClass.EXACT, "Cumsum")


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dim", [0, 1, -1])
@pytest.mark.parametrize("dtype", NUMBERS)
def test_cumsum(vendor: Vendor, dtype: str, dim: int, layout: str) -> None:
    a, x = place(vendor, numbers((6, 30), dtype, 80, 0, 3), dtype, layout)
    kind = dtype if dtype in FLOATS else "int64"
    out = out_like(vendor, (6, 30), kind, layout)
    vendor.op.Cumsum(out, a, dim)
    bound: dict[str, Any] = {}
    if dtype in FLOATS:
        steps = np.arange(1, x.shape[dim] + 1).reshape((-1, 1) if dim == 0 else (1, -1))
        bound = {
            "reduction_length": np.broadcast_to(steps, (6, 30)),
            "magnitude": np.cumsum(np.abs(x), axis=dim),
            "order": Order.ANY,
        }
    check(
        out,
        np.cumsum(x, axis=dim, dtype=x.dtype if dtype in FLOATS else np.int64),
        OpClass.REDUCTION,
        "Cumsum",
        **bound,
    )


@CONVERSIONS
def test_sums_in_another_dtype_are_those_of_a_converted_copy(
    vendor: Vendor, source: str, result: str
) -> None:
    check_converted_sums(vendor, "Cumsum", 1, np.cumsum, (source, result))


def test_cases_of_gradients(vendor: Vendor) -> None:
    check_cases(vendor, "diopiCumsumBackward")
