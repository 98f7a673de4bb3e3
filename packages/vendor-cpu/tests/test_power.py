"""Roots and powers."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from diopi_proto.tolerance import OpClass
from functions import Function, check_function, check_limits, check_many_elements
from support import FLOATS, INTS, LAYOUTS, check, numbers, out_like, place

FUNCTIONS = {
    "Sqrt": Function(np.sqrt, OpClass.ROUNDING, 0.0, 9.0),
    "Rsqrt": Function(lambda x: 1 / np.sqrt(x), OpClass.ELEMENTARY, 0.01, 9.0),
    "Reciprocal": Function(lambda x: 1 / x, OpClass.ROUNDING, 0.1, 9.0),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_function_agrees_with_reference(vendor: Vendor, name: str, dtype: str, layout: str) -> None:
    check_function(vendor, name, FUNCTIONS[name], dtype, layout)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function_of_many_elements(vendor: Vendor, name: str) -> None:
    check_many_elements(vendor, name, FUNCTIONS[name])


@pytest.mark.parametrize("dtype", FLOATS)
def test_nan_and_infinity_pass_through(vendor: Vendor, dtype: str) -> None:
    check_limits(vendor, "Sqrt", FUNCTIONS["Sqrt"].reference, dtype)


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


@pytest.mark.parametrize("exponent", [1.0, 2.0, 3.0, 0.5, -0.5, -1.0, 1.5])
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
def test_powers_with_forms_of_their_own(vendor: Vendor, dtype: str, exponent: float) -> None:
    x, values = place(vendor, np.abs(numbers((5, 67), dtype, 3)) + 0.1, dtype)
    out = out_like(vendor, (5, 67), dtype)
    vendor.op.Pow(out, x, exponent)
    check(out, values**exponent, OpClass.ELEMENTARY, "Pow")
