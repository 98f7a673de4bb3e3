"""Tests of comparisons, elementwise and of whole tensors."""

from __future__ import annotations

import numpy as np
import pytest

from broadcasting import SHAPES, both
from diopi_proto import Vendor
from diopi_proto.tolerance import OpClass
from functions import Function
from support import FLOATS, LAYOUTS, NUMBERS, REALS, check, numbers, out_like, place

COMPARISONS: dict[str, Function] = {
    "Eq": np.equal,
    "Ne": np.not_equal,
    "Lt": np.less,
    "Le": np.less_equal,
    "Gt": np.greater,
    "Ge": np.greater_equal,
}


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", REALS)
@pytest.mark.parametrize("name", COMPARISONS)
def test_comparison_gives_bools(
    vendor: Vendor, name: str, dtype: str, shapes: tuple[tuple[int, ...], tuple[int, ...]]
) -> None:
    left, right = both(dtype, *shapes)
    a, x = place(vendor, np.round(left), dtype)
    b, y = place(vendor, np.round(right), dtype)
    out = out_like(vendor, np.broadcast_shapes(*shapes), "bool")
    vendor.op[f"diopi{name}"](out, a, b)
    assert np.array_equal(out.numpy(), COMPARISONS[name](x, y))


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("name", COMPARISONS)
def test_comparison_with_scalar_and_in_place(vendor: Vendor, name: str, dtype: str) -> None:
    source = np.round(numbers((5, 7), dtype, 13, -4, 4))
    a, x = place(vendor, source, dtype)
    want = COMPARISONS[name](x, 2)
    out = out_like(vendor, (5, 7), "bool")
    vendor.op[f"diopi{name}Scalar"](out, a, 2)
    assert np.array_equal(out.numpy(), want)
    vendor.op[f"diopi{name}InpScalar"](a, 2)
    check(a, want.astype(np.int64), OpClass.EXACT, name)
    b = place(vendor, source, dtype)[0]
    vendor.op[f"diopi{name}Inp"](b, place(vendor, np.full((7,), 2), dtype)[0])
    check(b, want.astype(np.int64), OpClass.EXACT, name)


@pytest.mark.parametrize("number", [-1, 0, 1, 2])
@pytest.mark.parametrize("name", COMPARISONS)
def test_bools_are_compared_as_0_and_1(vendor: Vendor, name: str, number: int) -> None:
    source = np.array([True, False])
    want = COMPARISONS[name](source.astype(np.int64), number)
    out = out_like(vendor, (2,), "bool")
    a = vendor.tensor(source)
    vendor.op[f"diopi{name}Scalar"](out, a, number)
    assert np.array_equal(out.numpy(), want)
    vendor.op[f"diopi{name}InpScalar"](a, number)
    assert np.array_equal(a.numpy(), want)


def test_comparison_with_nan_is_false(vendor: Vendor) -> None:
    a = vendor.tensor(np.array([np.nan, 1.0], np.float32))
    out = out_like(vendor, (2,), "bool")
    for name in ("Eq", "Lt", "Le", "Gt", "Ge"):
        vendor.op[f"diopi{name}"](out, a, a)
        assert not out.numpy()[0], name
    vendor.op.Ne(out, a, a)
    assert out.numpy().tolist() == [True, False]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", REALS)
def test_equal(vendor: Vendor, dtype: str, layout: str) -> None:
    source = numbers((130, 97), dtype, 33)
    a, b = place(vendor, source, dtype, layout)[0], place(vendor, source, dtype)[0]
    assert vendor.op.Equal(a, b) is True
    changed = source.copy()
    changed[129, 96] = not changed[129, 96] if dtype == "bool" else changed[129, 96] + 1
    assert vendor.op.Equal(a, place(vendor, changed, dtype)[0]) is False
    assert vendor.op.Equal(a, place(vendor, source[:1], dtype)[0]) is False


def test_nan_equals_nothing(vendor: Vendor) -> None:
    x = place(vendor, [1.0, np.nan], "float32")[0]
    assert vendor.op.Equal(x, x) is False


@pytest.mark.parametrize("dtype", REALS)
def test_is_nan(vendor: Vendor, dtype: str) -> None:
    source = np.array([1.0, np.nan, 0.0]) if dtype in FLOATS else np.array([1, 0, 1])
    out = out_like(vendor, (3,), "bool")
    vendor.op.IsNan(out, place(vendor, source, dtype)[0])
    assert out.numpy().tolist() == [False, dtype in FLOATS, False]
