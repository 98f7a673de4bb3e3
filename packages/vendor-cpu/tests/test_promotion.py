"""Tests of type promotion: operands of several dtypes are converted to the dtype of PyTorch's
promotion, in every operator.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from diopi_proto import OperatorError, Tensor, Vendor
from diopi_proto.promotion import promotion
from diopi_proto.schema import load
from diopi_proto.tolerance import OpClass
from dl_conformance.catalog import cases_of
from dl_conformance.execution import run
from dl_conformance.mixed import mixed_cases
from support import (
    COMPLEXES,
    FLOATS,
    INTS,
    REALS,
    Array,
    check,
    exact,
    numbers,
    out_like,
    place,
    stored,
)

Function = Callable[..., Any]
SHAPE = (3, 5)
PAIRS = [
    ("int32", "float32"),
    ("float16", "int64"),
    ("bfloat16", "float16"),
    ("bool", "uint8"),
    ("uint8", "int8"),
    ("float64", "bool"),
    ("complex64", "int64"),
    ("bfloat16", "complex64"),
    ("float64", "complex64"),
    ("complex64", "complex128"),
    ("bool", "complex128"),
]
WIDTH = {"bool": 0, "uint8": 1, "int8": 1, "int16": 2, "int32": 4, "int64": 8}


def category(dtype: str) -> int:
    return 3 if dtype in COMPLEXES else 2 if dtype in FLOATS else 1 if dtype in INTS else 0


def common(a: str, b: str) -> str:
    """Return the dtype in torch's table of promotions."""
    if a == b:
        return a
    if a in COMPLEXES or b in COMPLEXES:
        return "complex128" if {a, b} & {"float64", "complex128"} else "complex64"
    if category(a) != category(b):
        return max(a, b, key=category)
    if a in FLOATS:
        return "float64" if "float64" in (a, b) else "float32"
    if {a, b} == {"uint8", "int8"}:
        return "int16"
    return max(a, b, key=lambda x: (WIDTH[x], x != "uint8"))


def operands(vendor: Vendor, dtypes: tuple[str, ...], low: float = -3, **where: Any) -> Any:
    """Return a tensor of each dtype, and its numbers rounded to the common dtype."""
    wide = dtypes[0]
    for dtype in dtypes[1:]:
        wide = common(wide, dtype)
    tensors, values = [], []
    for i, dtype in enumerate(dtypes):
        tensor, value = place(vendor, numbers(SHAPE, dtype, i, low=low), dtype, **where)
        tensors.append(tensor)
        values.append(exact(stored(value, wide), wide))
    return tensors, values, wide


BINARY: dict[str, tuple[Function, tuple[str, ...]]] = {
    "Mul": (np.multiply, (*REALS, *COMPLEXES)),
    "Maximum": (np.maximum, REALS),
    "Minimum": (np.minimum, REALS),
    "BitwiseAnd": (np.bitwise_and, (*INTS, "bool")),
    "BitwiseOr": (np.bitwise_or, (*INTS, "bool")),
    "PowTensor": (np.power, (*FLOATS, *COMPLEXES)),
    "RemainderTensor": (np.mod, FLOATS),
}
TRUTH = {
    "Eq": np.equal,
    "Ne": np.not_equal,
    "Lt": np.less,
    "Le": np.less_equal,
    "Gt": np.greater,
    "Ge": np.greater_equal,
    "LogicalAnd": np.logical_and,
    "LogicalOr": np.logical_or,
}
ORDERS = ("Lt", "Le", "Gt", "Ge")
OF_INTEGERS = {
    "Exp": np.exp,
    "Log1p": np.log1p,
    "Sqrt": np.sqrt,
    "Reciprocal": np.reciprocal,
    "Sin": np.sin,
    "Atan": np.arctan,
    "Tanh": np.tanh,
}


@pytest.mark.parametrize("name", [x for x in load() if promotion(x) is not None])
def test_cases_of_the_suite(vendor: Vendor, name: str) -> None:
    """Calls with several dtypes are declined only if the promoted dtype is declined."""
    mixed = list(mixed_cases(load()[name]))
    names = {case.name for case in mixed}
    plain = {x.dtype: x for x in cases_of(name) if x.name not in names and x.layout == "contiguous"}
    declined = {d for d, x in plain.items() if run(vendor, x).status == "unsupported"}
    for case in mixed:
        outcome = run(vendor, case)
        allowed = {"unsupported"} if case.dtype in declined else {"passed", "unchecked"}
        assert outcome.status in allowed, f"{case.name}: {outcome.cause} {outcome.detail}"


@pytest.mark.parametrize("layout", ["dense", "transposed", "sliced"])
@pytest.mark.parametrize("right", [*REALS, *COMPLEXES])
@pytest.mark.parametrize("left", [*REALS, *COMPLEXES])
def test_sums_of_every_two_dtypes(vendor: Vendor, left: str, right: str, layout: str) -> None:
    (a, b), (x, y), wide = operands(vendor, (left, right), layout=layout)
    out = out_like(vendor, SHAPE, wide, layout)
    vendor.op.Add(out, a, b, 1)
    if wide in (*FLOATS, *COMPLEXES):
        check(out, x + y, OpClass.ROUNDING, "Add")
    else:
        want = x | y if wide == "bool" else (x.astype(np.int64) + y).astype(wide)
        check(out, want, OpClass.EXACT, "Add")


@pytest.mark.parametrize("pair", PAIRS + [pair[::-1] for pair in PAIRS], ids=str)
@pytest.mark.parametrize("name", BINARY)
def test_results_have_the_common_dtype(vendor: Vendor, name: str, pair: tuple[str, str]) -> None:
    reference, dtypes = BINARY[name]
    (a, b), (x, y), wide = operands(vendor, pair, low=1)
    if wide not in dtypes:
        pytest.skip(f"{name} has no {wide}")
    out = out_like(vendor, SHAPE, wide)
    vendor.op[f"diopi{name}"](out, a, b)
    with np.errstate(invalid="ignore"):  # bools as divisors may be 0
        check(out, reference(x, y), OpClass.ELEMENTARY, name)


@pytest.mark.parametrize("pair", PAIRS + [pair[::-1] for pair in PAIRS], ids=str)
@pytest.mark.parametrize("name", TRUTH)
def test_comparisons_are_made_in_the_common_dtype(
    vendor: Vendor, name: str, pair: tuple[str, str]
) -> None:
    (a, b), (x, y), wide = operands(vendor, pair)
    out = out_like(vendor, SHAPE, "bool")
    if wide in COMPLEXES and name in ORDERS:
        with pytest.raises(OperatorError, match="diopiDtypeNotSupported"):
            vendor.op[f"diopi{name}"](out, a, b)
        return
    vendor.op[f"diopi{name}"](out, a, b)
    check(out, TRUTH[name](x, y), OpClass.EXACT, name)
    vendor.op[f"diopi{name}Inp"](a, b)
    check(a, TRUTH[name](x, y).astype(np.float64), OpClass.EXACT, f"{name}Inp")


def test_int64_and_float32_are_compared_as_float32(vendor: Vendor) -> None:
    a = vendor.tensor(np.array([2**24 + 1, 2**24 + 2]))
    b = vendor.tensor(np.array([2**24, 2**24], np.float32))
    out = out_like(vendor, (2,), "bool")
    vendor.op.Eq(out, a, b)
    assert out.numpy().tolist() == [True, False]


@pytest.mark.parametrize("dtype", [*INTS, "bool"])
@pytest.mark.parametrize("name", OF_INTEGERS)
def test_functions_take_integers_as_float32(vendor: Vendor, name: str, dtype: str) -> None:
    a, x = place(vendor, numbers(SHAPE, dtype, 3, low=1), dtype, "transposed")
    if name == "Reciprocal":
        a, x = place(vendor, np.ones(SHAPE) * 3, dtype)
    out = out_like(vendor, SHAPE, "float32")
    vendor.op[f"diopi{name}"](out, a)
    check(out, OF_INTEGERS[name](x.astype(np.longdouble)), OpClass.ELEMENTARY, name)
    wide = out_like(vendor, SHAPE, "float64")
    vendor.op[f"diopi{name}"](wide, a)
    assert np.array_equal(wide.numpy(), out.numpy().astype("float64"))


@pytest.mark.parametrize("pair", [("int32", "int64"), ("uint8", "bool"), ("int8", "float16")])
def test_true_quotients_are_floating(vendor: Vendor, pair: tuple[str, str]) -> None:
    (a, b), (x, y), wide = operands(vendor, pair, low=1)
    if wide == "uint8":
        b, y = place(vendor, np.ones(SHAPE), "bool")
    result = wide if wide in FLOATS else "float32"
    out = out_like(vendor, SHAPE, result)
    vendor.op.Div(out, a, b, 0)
    want = exact(stored(x, result), result) / exact(stored(y, result), result)
    check(out, want, OpClass.ROUNDING, "Div")


def test_truncated_quotients_of_integers_stay_integers(vendor: Vendor) -> None:
    (a, b), (x, y), wide = operands(vendor, ("int32", "int64"), low=1)
    out = out_like(vendor, SHAPE, wide)
    vendor.op.Div(out, a, b, 1)
    check(out, x.astype(np.int64) // y.astype(np.int64), OpClass.EXACT, "Div")


@pytest.mark.parametrize("dtype", ["int32", "bool", "float16"])
def test_scalars_raise_the_category_only(vendor: Vendor, dtype: str) -> None:
    a, x = place(vendor, numbers(SHAPE, dtype, 4), dtype)
    wide = dtype if dtype in FLOATS else "float32"
    out = out_like(vendor, SHAPE, wide)
    vendor.op.AddScalar(out, a, 1.5, 1)
    check(out, exact(stored(x, wide), wide) + np.longdouble(1.5), OpClass.ROUNDING, "AddScalar")
    vendor.op.ClampScalar(out, a, -0.5, 0.5)
    check(out, np.clip(exact(stored(x, wide), wide), -0.5, 0.5), OpClass.EXACT, "ClampScalar")
    whole = common(dtype, "int64") if dtype == "bool" else dtype
    out = out_like(vendor, SHAPE, whole)
    vendor.op.MulScalar(out, a, 2)
    check(out, exact(stored(x, whole), whole) * 2, OpClass.EXACT, "MulScalar")


def test_integers_to_a_fractional_power_are_floating(vendor: Vendor) -> None:
    a, x = place(vendor, numbers(SHAPE, "int32", 5, low=1), "int32")
    out = out_like(vendor, SHAPE, "float32")
    vendor.op.Pow(out, a, 1.5)
    check(out, x.astype(np.longdouble) ** 1.5, OpClass.ELEMENTARY, "Pow")


@pytest.mark.parametrize(
    ("wide", "dtype", "result"),
    [
        ("float16", "float32", "float16"),
        ("int8", "int64", "int8"),
        ("int32", "float64", "float64"),
        ("bool", "float16", "float16"),
        ("float16", "int64", "float16"),
    ],
)
def test_a_tensor_without_dimensions_raises_the_category_only(
    vendor: Vendor, wide: str, dtype: str, result: str
) -> None:
    a, x = place(vendor, numbers(SHAPE, wide, 6), wide)
    b, y = place(vendor, np.array(1.5), dtype)
    out = out_like(vendor, SHAPE, result)
    vendor.op.Mul(out, a, b)
    want = exact(stored(x, result), result) * exact(stored(y, result), result)
    check(out, want, OpClass.ROUNDING, "Mul")


def test_bounds_have_dtypes_of_their_own(vendor: Vendor) -> None:
    (a, low, high), (x, y, z), wide = operands(vendor, ("float16", "int32", "float32"))
    out = out_like(vendor, SHAPE, wide)
    vendor.op.Clamp(out, a, low, high)
    check(out, np.minimum(np.maximum(x, y), z), OpClass.EXACT, "Clamp")


def test_where_chooses_between_two_dtypes(vendor: Vendor) -> None:
    (a, b), (x, y), wide = operands(vendor, ("int32", "bfloat16"))
    mask, chosen = place(vendor, numbers(SHAPE, "bool", 7), "bool")
    out = out_like(vendor, SHAPE, wide)
    vendor.op.Where(out, mask, a, b)
    check(out, np.where(chosen, x, y), OpClass.EXACT, "Where")


def test_results_in_place_are_converted_back(vendor: Vendor) -> None:
    (a, b), (x, y), wide = operands(vendor, ("float16", "float32"), layout="transposed")
    assert wide == "float32"
    vendor.op.MulInp(a, b)
    product = (x.astype(np.float32) * y.astype(np.float32)).astype(np.float16)
    assert np.array_equal(a.numpy(), product)


def test_an_output_may_be_an_operand(vendor: Vendor) -> None:
    (a, b), (x, y), wide = operands(vendor, ("int32", "float32"))
    vendor.op.Add(b, a, b, 1)
    check(b, x + y, OpClass.ROUNDING, "Add")
    assert wide == "float32"


def call_mul(vendor: Vendor, out: Tensor, a: Tensor, b: Tensor) -> None:
    vendor.op.Mul(out, a, b)


def call_mul_in_place(vendor: Vendor, out: Tensor, a: Tensor, b: Tensor) -> None:
    vendor.op.MulInp(out, b)


def call_divide_in_place(vendor: Vendor, out: Tensor, a: Tensor, b: Tensor) -> None:
    vendor.op.DivInp(out, b, 0)


@pytest.mark.parametrize(
    ("call", "dtypes"),
    [
        (call_mul, ("int32", "int32", "float32")),
        (call_mul, ("bool", "uint8", "bool")),
        (call_mul, ("float64", "complex64", "float32")),
        (call_mul_in_place, ("int32", "int32", "float32")),
        (call_mul_in_place, ("bool", "bool", "int8")),
        (call_divide_in_place, ("int32", "int32", "int64")),
    ],
)
def test_results_that_a_dtype_cannot_hold_are_declined(
    vendor: Vendor, call: Function, dtypes: tuple[str, str, str]
) -> None:
    out = out_like(vendor, SHAPE, dtypes[0])
    before: Array = out.numpy().copy()
    a, b = (place(vendor, np.ones(SHAPE), dtype)[0] for dtype in dtypes[1:])
    with pytest.raises(OperatorError, match="diopiDtypeNotSupported"):
        call(vendor, out, a, b)
    assert np.array_equal(out.numpy(), before)
