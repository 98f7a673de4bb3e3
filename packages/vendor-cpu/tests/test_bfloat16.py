"""Tests of functions of bfloat16, which have a loop over pairs of elements."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from diopi_proto import Vendor
from diopi_proto.tolerance import bfloat16_to_float32
from support import out_like, stored

UNARY: dict[str, Any] = {"Neg": np.negative, "Abs": np.abs, "Exp": np.exp, "Relu": None}


@pytest.mark.parametrize("name", UNARY)
def test_all_values_of_bfloat16(vendor: Vendor, name: str) -> None:
    """Includes every NaN, an odd address, and a length that is not a multiple of a group."""
    bits = np.concatenate([np.arange(65536), np.arange(37)]).astype(np.uint16)
    memory = np.concatenate([np.zeros(1, np.uint16), bits])
    x = vendor.tensor(memory[1:], dtype="bfloat16")
    out = out_like(vendor, bits.shape, "bfloat16")
    getattr(vendor.op, name)(out, x)
    with np.errstate(all="ignore"):
        values = bfloat16_to_float32(bits).astype(np.float64)
        wanted = UNARY[name](values) if UNARY[name] else np.where(values < 0, 0, values)
        expected = stored(wanted, "bfloat16")
    want = bfloat16_to_float32(expected)
    got = bfloat16_to_float32(out.numpy())
    assert np.array_equal(np.isnan(got), np.isnan(want))
    numbers_ = ~np.isnan(want)
    if name == "Exp":
        steps = out.numpy().astype(np.int64) - expected.astype(np.int64)
        assert np.abs(steps[numbers_]).max() <= 1
    else:
        assert np.array_equal(got[numbers_], want[numbers_])


@pytest.mark.parametrize("shape", [(31,), (32,), (63,), (64, 64), (7, 65), (3, 5, 130)], ids=str)
@pytest.mark.parametrize("second", ["same", "row", "column", "element"])
def test_sums_of_two_bfloat16(vendor: Vendor, shape: tuple[int, ...], second: str) -> None:
    random = np.random.default_rng(7)
    shapes = {
        "same": shape,
        "row": shape[-1:],
        "column": (*shape[:-1], 1),
        "element": (1,) * len(shape),
    }
    special = [np.nan, np.inf, -np.inf, -0.0, 3.0e38]
    values = []
    for each in (shape, shapes[second]):
        x = random.choice([*special, *random.standard_normal(40)], each)
        values.append(stored(x, "bfloat16"))
    a, b = (vendor.tensor(x, dtype="bfloat16") for x in values)
    with np.errstate(all="ignore"):
        x, y = (bfloat16_to_float32(x).astype(np.float64) for x in values)
        want = bfloat16_to_float32(stored(x + y, "bfloat16"))
    for operands in ((a, b), (b, a)):
        out = out_like(vendor, shape, "bfloat16")
        vendor.op.Add(out, *operands, 1)
        assert np.array_equal(bfloat16_to_float32(out.numpy()), want, equal_nan=True)
