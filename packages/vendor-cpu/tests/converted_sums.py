"""Tests of sums with an explicit dtype: they equal sums of a copy in that dtype."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from diopi_proto import Vendor
from diopi_proto.tolerance import OpClass
from support import Array, check, numbers, out_like, place, terms

CONVERSIONS = pytest.mark.parametrize(
    ("source", "result"),
    [
        ("float32", "float64"),
        ("bfloat16", "float64"),
        ("bfloat16", "float32"),
        ("float32", "int64"),
        ("int32", "float32"),
        ("bool", "float64"),
        ("int64", "int32"),
    ],
)


def check_converted_sums(
    vendor: Vendor,
    operator: str,
    dim: Any,
    reference: Callable[..., Array],
    dtypes: tuple[str, str],
) -> None:
    """Compare ``operator`` with ``reference`` along the second dimension, passed as ``dim``."""
    source, result = dtypes
    a, x = place(vendor, numbers((6, 50), source, 81, 0, 9), source, "sliced")
    converted = x.astype(result) if result not in ("float32", "float64") else x.astype(np.float64)
    want = reference(converted, axis=1, dtype=converted.dtype)
    out = out_like(vendor, want.shape, result)
    getattr(vendor.op, operator)(out, a, dim)
    exact_result = result not in ("float32", "float64")
    bound = {} if exact_result else terms(50, np.abs(want))
    check(out, want, OpClass.EXACT if exact_result else OpClass.REDUCTION, operator, **bound)
