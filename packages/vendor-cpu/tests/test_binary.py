"""Arithmetic, comparisons and logic of two operands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from diopi_proto import NotSupportedError, OperatorError, Vendor
from diopi_proto.tolerance import OpClass
from support import FLOATS, INTS, LAYOUTS, NUMBERS, REALS, check, numbers, out_like, place

Function = Callable[[Any, Any], Any]

ARITHMETIC: dict[str, tuple[Function, tuple[str, ...]]] = {
    "Mul": (np.multiply, NUMBERS),
    "Maximum": (np.maximum, NUMBERS),
    "Minimum": (np.minimum, NUMBERS),
}
COMPARISONS: dict[str, Function] = {
    "Eq": np.equal,
    "Ne": np.not_equal,
    "Lt": np.less,
    "Le": np.less_equal,
    "Gt": np.greater,
    "Ge": np.greater_equal,
}
SHAPES = [
    ((3, 5, 17), (3, 5, 17)),
    ((3, 5, 17), (17,)),
    ((3, 5, 17), (5, 1)),
    ((3, 1, 17), (1, 5, 1)),
    ((4, 9), ()),
    ((), (4, 9)),
    ((1,), (1, 1)),
    ((0, 4), (4,)),
]


def both(dtype: str, left: tuple[int, ...], right: tuple[int, ...]) -> tuple[Any, Any]:
    return numbers(left, dtype, 11, -9, 9), numbers(right, dtype, 12, -9, 9)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", NUMBERS)
def test_add_and_sub_scale_the_second_operand(
    vendor: Vendor, dtype: str, shapes: tuple[tuple[int, ...], tuple[int, ...]], layout: str
) -> None:
    left, right = both(dtype, *shapes)
    a, x = place(vendor, left, dtype, layout)
    b, y = place(vendor, right, dtype, layout)
    shape = np.broadcast_shapes(*shapes)
    for name, sign in (("Add", 1), ("Sub", -1)):
        out = out_like(vendor, shape, dtype, layout)
        vendor.op[f"diopi{name}"](out, a, b, 2)
        if dtype in FLOATS:
            check(out, x + sign * 2 * y, OpClass.ROUNDING, name)  # doubling is exact
        else:
            want = x.astype(np.int64) + sign * 2 * y.astype(np.int64)
            check(out, want.astype(dtype), OpClass.EXACT, name)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
@pytest.mark.parametrize(("name", "dtype"), [(n, d) for n, c in ARITHMETIC.items() for d in c[1]])
def test_arithmetic_broadcasts(
    vendor: Vendor,
    name: str,
    dtype: str,
    shapes: tuple[tuple[int, ...], tuple[int, ...]],
    layout: str,
) -> None:
    left, right = both(dtype, *shapes)
    a, x = place(vendor, left, dtype, layout)
    b, y = place(vendor, right, dtype, layout)
    out = out_like(vendor, np.broadcast_shapes(*shapes), dtype, layout)
    vendor.op[f"diopi{name}"](out, a, b)
    with np.errstate(over="ignore"):
        check(out, ARITHMETIC[name][0](x, y), OpClass.ROUNDING, name)


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


def test_comparison_with_nan_is_false(vendor: Vendor) -> None:
    a = vendor.tensor(np.array([np.nan, 1.0], np.float32))
    out = out_like(vendor, (2,), "bool")
    for name in ("Eq", "Lt", "Le", "Gt", "Ge"):
        vendor.op[f"diopi{name}"](out, a, a)
        assert not out.numpy()[0], name
    vendor.op.Ne(out, a, a)
    assert out.numpy().tolist() == [True, False]


@pytest.mark.parametrize("dtype", NUMBERS)
def test_scalar_forms_of_arithmetic(vendor: Vendor, dtype: str) -> None:
    source = numbers((3, 11), dtype, 14, -4, 4)
    scalar = 0.3 if dtype in FLOATS else 3
    # The scalar is rounded to the type that is computed in, which for half types is float.
    factor: Any = np.longdouble(0.3 if dtype == "float64" else np.float32(0.3))
    cases: dict[str, Function] = {
        "AddScalar": lambda x, s: x + 2 * s,
        "SubScalar": lambda x, s: x - 2 * s,
        "MulScalar": lambda x, s: x * s,
    }
    for name, reference in cases.items():
        a, x = place(vendor, source, dtype)
        more = () if name == "MulScalar" else (2,)
        out = out_like(vendor, (3, 11), dtype)
        vendor.op[f"diopi{name}"](out, a, scalar, *more)
        if dtype in FLOATS:
            check(out, reference(x, factor), OpClass.ROUNDING, name)
        else:
            check(out, reference(x.astype(np.int64), 3).astype(dtype), OpClass.EXACT, name)
        vendor.op[f"diopi{name.replace('Scalar', 'InpScalar')}"](a, scalar, *more)
        assert np.array_equal(a.numpy(), out.numpy())


@pytest.mark.parametrize("dtype", NUMBERS)
def test_in_place_forms_of_arithmetic(vendor: Vendor, dtype: str) -> None:
    source, other = both(dtype, (3, 11), (11,))
    b = place(vendor, other, dtype)[0]
    for name, more in (("Add", (1,)), ("Sub", (1,)), ("Mul", ())):
        a = place(vendor, source, dtype)[0]
        out = out_like(vendor, (3, 11), dtype)
        vendor.op[f"diopi{name}"](out, a, b, *more)
        vendor.op[f"diopi{name}Inp"](a, b, *more)
        assert np.array_equal(a.numpy(), out.numpy()), name


@pytest.mark.parametrize("dtype", FLOATS)
def test_division_modes_of_floats(vendor: Vendor, dtype: str) -> None:
    left = numbers((4, 25), dtype, 15, -9, 9)
    right = np.where(np.abs(numbers((4, 25), dtype, 16)) < 0.3, 0.7, numbers((4, 25), dtype, 16))
    a, x = place(vendor, left, dtype)
    b, y = place(vendor, right, dtype)
    out = out_like(vendor, (4, 25), dtype)
    vendor.op.Div(out, a, b, "none")
    check(out, x / y, OpClass.ROUNDING, "Div")
    vendor.op.Div(out, a, b, "floor")
    check(out, np.floor(x / y), OpClass.EXACT, "Div floor")
    vendor.op.Div(out, a, b, "trunc")
    check(out, np.trunc(x / y), OpClass.EXACT, "Div trunc")
    vendor.op.DivScalar(out, a, 2, "floor")
    check(out, np.floor(x / 2), OpClass.EXACT, "DivScalar")
    vendor.op.DivInpScalar(a, 2, "floor")
    assert np.array_equal(a.numpy(), out.numpy())
    vendor.op.DivInp(b, b, "none")
    assert np.array_equal(b.float32(), np.ones((4, 25)))


def test_float_division_by_zero_follows_ieee(vendor: Vendor) -> None:
    a = vendor.tensor(np.array([1.0, -1.0, 0.0], np.float32))
    zero = vendor.tensor(np.zeros(3, np.float32))
    out = out_like(vendor, (3,), "float32")
    for mode in ("none", "floor", "trunc"):
        vendor.op.Div(out, a, zero, mode)
        assert out.numpy()[:2].tolist() == [np.inf, -np.inf]
        assert np.isnan(out.numpy()[2])


@pytest.mark.parametrize("dtype", INTS)
def test_division_modes_of_integers(vendor: Vendor, dtype: str) -> None:
    left = numbers((60,), dtype, 17, -9, 9)
    right = numbers((60,), dtype, 18, -4, 4)
    right[right == 0] = 3
    a, x = place(vendor, left, dtype)
    b, y = place(vendor, right, dtype)
    out = out_like(vendor, (60,), dtype)
    vendor.op.Div(out, a, b, "floor")
    assert np.array_equal(out.numpy(), x // y)
    vendor.op.Div(out, a, b, "trunc")
    assert np.array_equal(out.numpy(), np.trunc(x / y).astype(dtype))


@pytest.mark.parametrize("dtype", INTS)
def test_integer_division_by_zero_is_an_error(vendor: Vendor, dtype: str) -> None:
    a = place(vendor, [1, 2], dtype)[0]
    zero = place(vendor, [1, 0], dtype)[0]
    with pytest.raises(OperatorError, match=r"\[diopiDiv\] integer division by zero"):
        vendor.op.Div(out_like(vendor, (2,), dtype), a, zero, "floor")


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64"])
def test_smallest_integer_divided_by_minus_one_wraps(vendor: Vendor, dtype: str) -> None:
    low = np.iinfo(dtype).min
    out = out_like(vendor, (1,), dtype)
    vendor.op.Div(
        out, vendor.tensor(np.array([low], dtype)), place(vendor, [-1], dtype)[0], "trunc"
    )
    assert out.numpy()[0] == low


@pytest.mark.parametrize("dtype", INTS)
def test_integer_arithmetic_wraps(vendor: Vendor, dtype: str) -> None:
    high = np.array([np.iinfo(dtype).max], dtype)
    a = vendor.tensor(high)
    out = out_like(vendor, (1,), dtype)
    vendor.op.Add(out, a, a, 1)
    assert out.numpy()[0] == np.array(-2).astype(dtype)
    vendor.op.Mul(out, a, a)
    assert (int(out.numpy()[0]) - int(high[0]) ** 2) % 2 ** (8 * high.itemsize) == 0


@pytest.mark.parametrize("dtype", FLOATS)
def test_extrema_keep_nan(vendor: Vendor, dtype: str) -> None:
    a = place(vendor, [np.nan, 1.0, np.nan, 2.0], dtype)[0]
    b = place(vendor, [1.0, np.nan, np.nan, 3.0], dtype)[0]
    out = out_like(vendor, (4,), dtype)
    for name, last in (("Maximum", 3.0), ("Minimum", 2.0)):
        vendor.op[f"diopi{name}"](out, a, b)
        assert np.isnan(out.float32()[:3]).all()
        assert out.float32()[3] == last


def test_bools_add_and_multiply_as_logic(vendor: Vendor) -> None:
    a = vendor.tensor(np.array([False, False, True, True]))
    b = vendor.tensor(np.array([False, True, False, True]))
    out = out_like(vendor, (4,), "bool")
    vendor.op.Add(out, a, b, True)
    assert out.numpy().tolist() == [False, True, True, True]
    vendor.op.Mul(out, a, b)
    assert out.numpy().tolist() == [False, False, False, True]
    with pytest.raises((NotSupportedError, OperatorError)):
        vendor.op.Sub(out, a, b, True)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("exponent", [0, 0.5, 1, 2, 3, -1, -2, 2.5])
def test_pow_of_floats(vendor: Vendor, dtype: str, exponent: float) -> None:
    a, x = place(vendor, numbers((3, 9), dtype, 19, 0.2, 3), dtype)
    out = out_like(vendor, (3, 9), dtype)
    vendor.op.Pow(out, a, exponent)
    check(out, x ** np.longdouble(exponent), OpClass.ELEMENTARY, "Pow")
    b = place(vendor, np.full((9,), exponent), dtype)[0]
    vendor.op.PowTensor(out, a, b)
    check(out, x ** np.longdouble(exponent), OpClass.ELEMENTARY, "PowTensor")
    vendor.op.PowScalar(out, 2, a)
    check(out, np.longdouble(2) ** x, OpClass.ELEMENTARY, "PowScalar")
    c = place(vendor, numbers((3, 9), dtype, 19, 0.2, 3), dtype)[0]
    vendor.op.PowInp(c, exponent)
    d = place(vendor, numbers((3, 9), dtype, 19, 0.2, 3), dtype)[0]
    vendor.op.PowInpTensor(d, b)
    check(c, x ** np.longdouble(exponent), OpClass.ELEMENTARY, "PowInp")
    check(d, x ** np.longdouble(exponent), OpClass.ELEMENTARY, "PowInpTensor")


SPECIAL = np.array(
    (
        *(0, -0.0, 1, -1, 2, -2, 3, -3, 0.5, -0.5, 2.5, -2.5, 1e-40, -1e-40, 1e-45, 3e38, -3e38),
        *(127, -149, 2**24 - 1, 1 - 2**-24, 1 + 2**-23, np.inf, -np.inf, np.nan),
    ),
    np.float32,
)


def test_pow_of_special_values_is_that_of_ieee(vendor: Vendor) -> None:
    base, exponent = (part.ravel() for part in np.meshgrid(SPECIAL, SPECIAL))
    out = vendor.empty(base.shape, dtype="float32")
    vendor.op.PowTensor(out, vendor.tensor(base), vendor.tensor(exponent))
    with np.errstate(all="ignore"):
        want = np.power(base.astype(np.float64), exponent.astype(np.float64)).astype(np.float32)
    got = out.numpy()
    finite = np.isfinite(want) & (want != 0)
    np.testing.assert_array_equal(got[~finite], want[~finite])
    number = ~np.isnan(want)
    np.testing.assert_array_equal(np.signbit(got[number]), np.signbit(want[number]))
    np.testing.assert_allclose(got[finite], want[finite], rtol=2**-23)


@pytest.mark.parametrize("dtype", INTS)
def test_pow_of_integers_wraps(vendor: Vendor, dtype: str) -> None:
    a, x = place(vendor, [0, 1, 2, 3, 5], dtype)
    out = out_like(vendor, (5,), dtype)
    vendor.op.PowTensor(out, a, place(vendor, [3, 4, 7, 5, 0], dtype)[0])
    with np.errstate(over="ignore"):
        assert out.numpy().tolist() == (x ** np.array([3, 4, 7, 5, 0], dtype)).tolist()
    if dtype != "uint8":
        with pytest.raises(OperatorError, match="negative integer powers"):
            vendor.op.Pow(out, a, -1)


def test_pow_of_nan_to_zero_is_one(vendor: Vendor) -> None:
    a = vendor.tensor(np.array([np.nan], np.float32))
    out = out_like(vendor, (1,), "float32")
    vendor.op.Pow(out, a, 0)
    assert out.numpy()[0] == 1.0


@pytest.mark.parametrize("dtype", REALS)
def test_logic(vendor: Vendor, dtype: str) -> None:
    left, right = numbers((4, 9), dtype, 20, -1, 1), numbers((9,), dtype, 21, -1, 1)
    a, x = place(vendor, np.round(left), dtype)
    b, y = place(vendor, np.round(right), dtype)
    out = out_like(vendor, (4, 9), "bool")
    for name, reference in (("LogicalAnd", np.logical_and), ("LogicalOr", np.logical_or)):
        vendor.op[f"diopi{name}"](out, a, b)
        assert np.array_equal(out.numpy(), reference(x, y))
        c = place(vendor, np.round(left), dtype)[0]
        vendor.op[f"diopi{name}Inp"](c, b)
        check(c, reference(x, y).astype(np.int64), OpClass.EXACT, name)
    vendor.op.LogicalNot(out, a)
    assert np.array_equal(out.numpy(), np.logical_not(x))
    vendor.op.LogicalNotInp(a)
    check(a, np.logical_not(x).astype(np.int64), OpClass.EXACT, "LogicalNotInp")


@pytest.mark.parametrize("dtype", [*INTS, "bool"])
def test_bits(vendor: Vendor, dtype: str) -> None:
    left, right = numbers((4, 9), dtype, 22, -99, 99), numbers((9,), dtype, 23, -99, 99)
    a, x = place(vendor, left, dtype)
    b, y = place(vendor, right, dtype)
    out = out_like(vendor, (4, 9), dtype)
    scalar = True if dtype == "bool" else 5
    for name, reference in (("BitwiseAnd", np.bitwise_and), ("BitwiseOr", np.bitwise_or)):
        vendor.op[f"diopi{name}"](out, a, b)
        assert np.array_equal(out.numpy(), reference(x, y))
        vendor.op[f"diopi{name}Scalar"](out, a, scalar)
        assert np.array_equal(out.numpy(), reference(x, np.array(scalar, dtype)))
        c, d = place(vendor, left, dtype)[0], place(vendor, left, dtype)[0]
        vendor.op[f"diopi{name}Inp"](c, b)
        assert np.array_equal(c.numpy(), reference(x, y))
        vendor.op[f"diopi{name}InpScalar"](d, scalar)
        assert np.array_equal(d.numpy(), reference(x, np.array(scalar, dtype)))
    vendor.op.BitwiseNot(out, a)
    assert np.array_equal(out.numpy(), np.bitwise_not(x))
    vendor.op.BitwiseNotInp(a)
    assert np.array_equal(a.numpy(), np.bitwise_not(x))


def test_operand_repeated_by_stride_zero(vendor: Vendor) -> None:
    row = np.arange(6, dtype=np.float32)
    repeated = vendor.tensor(np.broadcast_to(row, (40, 6)))
    assert repeated.strides[0] == 0
    out = out_like(vendor, (40, 6), "float32")
    vendor.op.Add(out, repeated, repeated, 1)
    assert np.array_equal(out.numpy(), np.broadcast_to(2 * row, (40, 6)))


def test_large_operands_are_shared_out(vendor: Vendor) -> None:
    left, right = numbers((300, 501), "float32", 24), numbers((300, 1), "float32", 25)
    a, x = place(vendor, left, "float32")
    b, y = place(vendor, right, "float32")
    out = out_like(vendor, (300, 501), "float32")
    vendor.op.Mul(out, a, b)
    check(out, x * y, OpClass.ROUNDING, "Mul")


def test_shapes_that_do_not_fit_are_refused(vendor: Vendor) -> None:
    a, b = out_like(vendor, (3,), "float32"), out_like(vendor, (4,), "float32")
    with pytest.raises(OperatorError, match=r"\[diopiMul\].*cannot be broadcast"):
        vendor.op.Mul(out_like(vendor, (4,), "float32"), a, b)


def test_alpha_must_fit_integers(vendor: Vendor) -> None:
    a = place(vendor, [1, 2], "int32")[0]
    with pytest.raises(OperatorError, match="alpha"):
        vendor.op.Add(a, a, a, 0.5)


def test_foreach_forms(vendor: Vendor) -> None:
    sources = [numbers((3, 4), "float32", 26), numbers((7,), "float32", 27)]
    for name, reference in (("Foreachadd", np.add), ("Foreachmul", np.multiply)):
        tensors = [place(vendor, s, "float32") for s in sources]
        outs = [out_like(vendor, s.shape, "float32") for s in sources]
        vendor.op[f"diopi{name}Scalar"](outs, [t for t, _ in tensors], 3)
        for out, (_, x) in zip(outs, tensors, strict=True):
            check(out, reference(x, 3), OpClass.ROUNDING, name)
        vendor.op[f"diopi{name}InpScalar"]([t for t, _ in tensors], 3)
        for out, (t, _) in zip(outs, tensors, strict=True):
            assert np.array_equal(out.numpy(), t.numpy())
    factor = vendor.tensor(np.array(3, np.float32))
    tensors = [place(vendor, s, "float32") for s in sources]
    outs = [out_like(vendor, s.shape, "float32") for s in sources]
    vendor.op.ForeachmulTensor(outs, [t for t, _ in tensors], factor)
    vendor.op.ForeachmulInpTensor([t for t, _ in tensors], factor)
    for out, (t, x) in zip(outs, tensors, strict=True):
        check(out, x * 3, OpClass.ROUNDING, "ForeachmulTensor")
        assert np.array_equal(out.numpy(), t.numpy())


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", NUMBERS)
def test_remainder_has_the_sign_of_the_divisor(vendor: Vendor, dtype: str, layout: str) -> None:
    left, right = numbers((4, 33), dtype, 31, -9, 9), numbers((4, 33), dtype, 32, -4, 4)
    right = np.where(right == 0, 3, right)
    a, x = place(vendor, left, dtype, layout)
    b, y = place(vendor, right, dtype)
    out = out_like(vendor, (4, 33), dtype, layout)
    vendor.op.RemainderTensor(out, a, b)
    check(out, np.remainder(x, y), OpClass.ROUNDING, "RemainderTensor")
    vendor.op.RemainderScalar(out, a, 4)
    check(out, np.remainder(x, 4), OpClass.ROUNDING, "RemainderScalar")
    vendor.op.Remainder(out, 7, b)
    check(out, np.remainder(7, y).astype(y.dtype), OpClass.ROUNDING, "Remainder")


def test_remainder_by_zero(vendor: Vendor) -> None:
    out = out_like(vendor, (2,), "float32")
    a, zero = place(vendor, [1.0, -2.0], "float32")[0], place(vendor, [0.0, 0.0], "float32")[0]
    vendor.op.RemainderTensor(out, a, zero)
    assert np.isnan(out.numpy()).all()
    whole = place(vendor, [1, 0], "int32")[0]
    with pytest.raises(OperatorError, match=r"\[diopiRemainderTensor\] integer division by zero"):
        vendor.op.RemainderTensor(out_like(vendor, (2,), "int32"), whole, whole)


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64"])
def test_remainder_of_the_smallest_integer_by_minus_one(vendor: Vendor, dtype: str) -> None:
    low = vendor.tensor(np.array([np.iinfo(dtype).min], dtype))
    out = out_like(vendor, (1,), dtype)
    vendor.op.RemainderScalar(out, low, -1)
    assert out.numpy()[0] == 0


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
