"""Tests of complex functions: over all exponents, on branch cuts, at infinities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from diopi_proto.tolerance import OpClass
from support import COMPLEXES, Array, check, numbers, out_like

Function = Callable[[Any], Any]
PARTS = {"complex64": np.float32, "complex128": np.float64}


def log1p(z: Array) -> Array:
    """Return log1p; numpy adds 1 first."""
    near = np.log1p(z.real * (2 + z.real) + z.imag**2) / 2 + 1j * np.arctan2(z.imag, 1 + z.real)
    return np.where(np.abs(z) < 0.5, near, np.log(1 + z))


def expm1(z: Array) -> Array:
    """Return expm1; numpy multiplies infinite powers by a sine of 0."""
    return np.where(z.imag == 0, np.expm1(z.real), np.expm1(z))


def sgn(z: Array) -> Array:
    return np.where(z == 0, 0, z / np.hypot(z.real, z.imag))


def sigmoid(z: Array) -> Array:
    """Return the sigmoid by the exponential of a negative number, near poles by the tangent."""
    small = np.exp(np.where(z.real < 0, z, -z))
    far = np.where(z.real < 0, small, 1) / (1 + small)
    return np.where(np.abs(z.real) < 1, (1 + np.tanh(z / 2)) / 2, far)


FUNCTIONS: dict[str, Function] = {
    "Sqrt": np.sqrt,
    "Rsqrt": lambda z: 1 / np.sqrt(z),
    "Reciprocal": lambda z: 1 / z,
    "Sgn": sgn,
    "Exp": np.exp,
    "Expm1": expm1,
    "Log": np.log,
    "Log2": np.log2,
    "Log10": np.log10,
    "Log1p": log1p,
    "Sigmoid": sigmoid,
    "Sin": np.sin,
    "Cos": np.cos,
    "Tan": np.tan,
    "Asin": np.arcsin,
    "Acos": np.arccos,
    "Atan": np.arctan,
    "Sinh": np.sinh,
    "Cosh": np.cosh,
    "Tanh": np.tanh,
    "Asinh": np.arcsinh,
    "Acosh": np.arccosh,
    "Atanh": np.arctanh,
}
NEAR = (0, 1, -1, 2, -2, 0.5, np.pi, np.pi / 2, -np.pi / 2)
"""Zeros, poles and branch points."""


def all_exponents(dtype: str, count: int, seed: int) -> Array:
    """Return random bit patterns, moderate numbers, and numbers near special points, in every
    combination."""
    random = np.random.default_rng(seed)
    part = PARTS[dtype]

    def bits() -> Array:
        return random.integers(0, 256, count * part().nbytes, np.uint8).view(part)

    def moderate() -> Array:
        return random.uniform(-1, 1, count) * 10.0 ** random.uniform(-12, 3, count)

    def near() -> Array:
        away = random.uniform(-1, 1, count) * 10.0 ** random.uniform(-17, -0.3, count)
        return random.choice(NEAR, count) + away * random.choice([0, 1], count)

    found = np.empty((3, 3, count), dtype)
    for i, real in enumerate((bits, moderate, near)):
        for j, imaginary in enumerate((bits, moderate, near)):
            found[i, j].real, found[i, j].imag = real(), imaginary()
    return found[np.isfinite(found)]


@pytest.mark.parametrize("dtype", COMPLEXES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_function_over_all_exponents(vendor: Vendor, name: str, dtype: str) -> None:
    z = all_exponents(dtype, 150, 1)
    out = out_like(vendor, z.shape, dtype)
    vendor.op[f"diopi{name}"](out, vendor.tensor(z))
    with np.errstate(all="ignore"):
        want = FUNCTIONS[name](z.astype(np.clongdouble))
    check(out, want, OpClass.ELEMENTARY, name)


@pytest.mark.parametrize("dtype", COMPLEXES)
def test_quotients_over_all_exponents(vendor: Vendor, dtype: str) -> None:
    a, b = all_exponents(dtype, 500, 2), all_exponents(dtype, 500, 3)
    count = min(a.size, b.size)
    a, b = a[:count], b[::-1][:count]
    out = out_like(vendor, a.shape, dtype)
    vendor.op.Div(out, vendor.tensor(a), vendor.tensor(b), 0)
    with np.errstate(all="ignore"):
        want = a.astype(np.clongdouble) / b.astype(np.clongdouble)
    check(out, want, OpClass.ROUNDING, "Div")
    vendor.op.Div(out, vendor.tensor(a), vendor.tensor(a), 0)
    same = a[a != 0]
    assert np.array_equal(out.numpy()[a != 0], np.ones_like(same))


@pytest.mark.parametrize("dtype", COMPLEXES)
@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 7, 31, 32, -1, -3, -31, 0.5, -0.5, 2.5, -2.5])
def test_powers(vendor: Vendor, dtype: str, exponent: float) -> None:
    z = numbers((40, 25), dtype, 4).astype(dtype)
    out = out_like(vendor, z.shape, dtype)
    vendor.op.Pow(out, vendor.tensor(z), exponent)
    want = np.exp(exponent * np.log(z.astype(np.clongdouble)))
    check(out, want, OpClass.ELEMENTARY, f"Pow {exponent}")


@pytest.mark.parametrize("dtype", COMPLEXES)
@pytest.mark.parametrize(
    "power", [(2, 0.49), (2, -0.52), (-2, 0.49), (3, 0.3), (-1, 0.99), (-2, -0.49)]
)
def test_powers_beside_the_largest_number(
    vendor: Vendor, dtype: str, power: tuple[int, float]
) -> None:
    """Intermediate squares may overflow although the power does not."""
    exponent, share = power
    size = float(np.finfo(dtype).max) ** share
    z = (size * numbers((500,), dtype, 5, 0.1, 1)).astype(dtype)
    out = out_like(vendor, z.shape, dtype)
    vendor.op.Pow(out, vendor.tensor(z), exponent)
    wide = z.astype(np.clongdouble)
    want = wide**exponent if exponent > 0 else 1 / wide**-exponent
    check(out, want, OpClass.ELEMENTARY, f"Pow {exponent}")


@pytest.mark.parametrize("dtype", COMPLEXES)
def test_complex_exponents(vendor: Vendor, dtype: str) -> None:
    z, w = (numbers((800,), dtype, seed).astype(dtype) for seed in (6, 7))
    out = out_like(vendor, z.shape, dtype)
    vendor.op.PowTensor(out, vendor.tensor(z), vendor.tensor(w))
    want = np.exp(w.astype(np.clongdouble) * np.log(z.astype(np.clongdouble)))
    # An error of the logarithm is multiplied by its factor.
    bound = np.abs(w * np.log(z)).astype(np.longdouble)
    error = np.abs(out.numpy() - want) / np.abs(want)
    assert np.all(error <= (8 + 4 * bound) * np.finfo(dtype).eps)
    vendor.op.PowTensor(out, vendor.tensor(np.zeros(800, dtype)), vendor.tensor(np.abs(w) + 0 * w))
    assert not out.numpy().any()
    vendor.op.PowScalar(out, 2, vendor.tensor(w))
    check(out, np.exp2(w.astype(np.clongdouble)), OpClass.ELEMENTARY, "PowScalar")


EDGES = (np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5, -2.5)


def same(a: Array, b: Array) -> Array:
    """Return a mask of equal numbers, where NaN equals NaN."""
    return (a == b) | (np.isnan(a) & np.isnan(b))


@pytest.mark.parametrize("dtype", COMPLEXES)
@pytest.mark.parametrize(
    "exponent", [0, 0.5, -0.5, 1, 2, 3, 4, 32, 33, -1, -2, -3, 2.5, -1.5, np.inf, -np.inf, np.nan]
)
def test_powers_of_infinities_and_nans(vendor: Vendor, dtype: str, exponent: float) -> None:
    """A scalar and a tensor exponent give the same; without products or roots, the result is C's
    exponential of a product with the logarithm."""
    z = np.empty((7, 7), dtype)
    z.real, z.imag = np.array(EDGES)[:, None], EDGES
    by_number, by_tensor = out_like(vendor, z.shape, dtype), out_like(vendor, z.shape, dtype)
    vendor.op.Pow(by_number, vendor.tensor(z), exponent)
    vendor.op.PowTensor(by_tensor, vendor.tensor(z), vendor.tensor(np.full_like(z, exponent)))
    one, other = by_number.numpy(), by_tensor.numpy()
    assert same(one.real, other.real).all() and same(one.imag, other.imag).all()
    if exponent in (2.5, -1.5, 4, 33):
        edge = ~np.isfinite(z) & ~np.isnan(z.real) & ~np.isnan(z.imag) & (z.imag != 0)
        infinite = np.isinf(z.imag) & (exponent > 0)
        # The angle of a number with an infinite imaginary part is 0 · inf, which is NaN.
        assert np.isinf(one.real[infinite & edge]).all()
        assert np.isnan(one.imag[infinite & edge]).all()
        if exponent < 0:
            assert not one[edge].any()
    zero = one[3:5, 3:5]
    if exponent > 0:
        assert not zero.any()
    elif exponent == -1.5:
        assert np.isinf(zero.real).all() and np.isnan(zero.imag).all()


@pytest.mark.parametrize("dtype", COMPLEXES)
def test_powers_of_infinite_logarithms(vendor: Vendor, dtype: str) -> None:
    """A product with an infinite factor is infinite, even with NaN."""
    z = np.array([complex(np.inf, np.nan), complex(np.nan, -np.inf)], dtype)
    out = out_like(vendor, z.shape, dtype)
    vendor.op.PowTensor(out, vendor.tensor(z), vendor.tensor(np.full(2, 1 + 1j, dtype)))
    assert np.isinf(out.numpy().real).all() and np.isnan(out.numpy().imag).all()


@pytest.mark.parametrize("dtype", COMPLEXES)
def test_log1p_keeps_zeros(vendor: Vendor, dtype: str) -> None:
    zeros = np.empty((2, 2), dtype)
    zeros.real, zeros.imag = np.array([[0.0], [-0.0]]), [0.0, -0.0]
    out = out_like(vendor, (2, 2), dtype)
    vendor.op.Log1p(out, vendor.tensor(zeros))
    assert np.array_equal(np.signbit(out.numpy().real), np.signbit(zeros.real))
    assert np.array_equal(np.signbit(out.numpy().imag), np.signbit(zeros.imag))


@pytest.mark.parametrize("dtype", COMPLEXES)
@pytest.mark.parametrize(
    "name", ["Sqrt", "Log", "Asin", "Acos", "Atan", "Asinh", "Acosh", "Atanh", "Sinh", "Tan"]
)
def test_both_sides_of_branch_cuts(vendor: Vendor, name: str, dtype: str) -> None:
    """The sign of a zero selects the side of a branch cut."""
    line = np.array([-3, -2, -1, -0.5, -0.0, 0.0, 0.5, 1, 2, 3])
    zeros = np.array([0.0, -0.0])
    z = np.empty((2, 10, 2), dtype)
    z[0].real, z[0].imag = line[:, None], zeros
    z[1].real, z[1].imag = zeros, line[:, None]
    out = out_like(vendor, z.shape, dtype)
    vendor.op[f"diopi{name}"](out, vendor.tensor(z))
    with np.errstate(all="ignore"):
        want = FUNCTIONS[name](z.astype(np.complex128))
    got = out.numpy()
    for a, b in ((got.real, want.real), (got.imag, want.imag)):
        assert np.allclose(a, b, rtol=1e-6, atol=1e-6, equal_nan=True)
        # No standard defines the sign of a zero that is the difference of equal numbers.
        clear = np.abs(b) > 1e-6
        assert np.array_equal(np.signbit(a)[clear], np.signbit(b)[clear]), (z[clear], name)


ANNEX_G = ("Sqrt", "Exp", "Log", "Acos", "Sinh", "Cosh", "Tanh", "Asinh", "Acosh", "Atanh")


@pytest.mark.parametrize("dtype", COMPLEXES)
@pytest.mark.parametrize("name", ANNEX_G)
def test_infinities_and_nans(vendor: Vendor, name: str, dtype: str) -> None:
    """Results match C, except for the signs next to a NaN, which C leaves unspecified."""
    z = np.empty((7, 7), dtype)
    z.real, z.imag = np.array(EDGES)[:, None], EDGES
    out = out_like(vendor, z.shape, dtype)
    vendor.op[f"diopi{name}"](out, vendor.tensor(z))
    with np.errstate(all="ignore"):
        want = FUNCTIONS[name](z.astype(np.complex128))
    got = out.numpy()
    for a, b, other in ((got.real, want.real, want.imag), (got.imag, want.imag, want.real)):
        assert np.array_equal(np.isnan(a), np.isnan(b)), z[np.isnan(a) != np.isnan(b)]
        signed = ~np.isnan(b) & ~np.isnan(other)
        assert np.allclose(a[signed], b[signed], rtol=1e-6, atol=1e-7)
        assert np.allclose(np.abs(a), np.abs(b), rtol=1e-6, atol=1e-7, equal_nan=True)


@pytest.mark.parametrize("dtype", COMPLEXES)
def test_finite_numbers_of_infinite_exponentials(vendor: Vendor, dtype: str) -> None:
    z = np.array([-1e4 + 1j, 1e4 + 1j, -3e38 - 2j, 3e38 + 1j], dtype)
    out = out_like(vendor, z.shape, dtype)
    vendor.op.Sigmoid(out, vendor.tensor(z))
    check(out, [0, 1, 0, 1], OpClass.EXACT, "Sigmoid")
    vendor.op.Tanh(out, vendor.tensor(z))
    check(out, [-1, 1, -1, 1], OpClass.EXACT, "Tanh")


def test_size_is_infinite_beside_a_nan(vendor: Vendor) -> None:
    for dtype in COMPLEXES:
        part = PARTS[dtype]
        z = np.array([complex(np.inf, np.nan), complex(np.nan, -np.inf), complex(np.nan, 1)], dtype)
        out = out_like(vendor, (3,), part.__name__)
        vendor.op.Abs(out, vendor.tensor(z))
        check(out, [np.inf, np.inf, np.nan], OpClass.EXACT, "Abs")


def test_shapes_that_do_not_fit_are_refused(vendor: Vendor) -> None:
    a, b = out_like(vendor, (3,), "complex64"), out_like(vendor, (4,), "complex64")
    for call in (
        lambda: vendor.op.Add(a, a, b, 1),
        lambda: vendor.op.Div(a, b, a, 0),
        lambda: vendor.op.PowTensor(a, a, b),
        lambda: vendor.op.Exp(a, b),
        lambda: vendor.op.Neg(a, b),
        lambda: vendor.op.Eq(out_like(vendor, (3,), "bool"), a, b),
        lambda: vendor.op.LogicalAnd(out_like(vendor, (3,), "bool"), a, b),
        lambda: vendor.op.Addcmul(a, a, a, b, 1),
        lambda: vendor.op.Cumsum(a, b, 0),
        lambda: vendor.op.Abs(out_like(vendor, (3,), "float32"), b),
    ):
        with pytest.raises(OperatorError):
            call()


def test_orders_and_whole_quotients_are_declined(vendor: Vendor) -> None:
    """Complex numbers support neither."""
    a, result = out_like(vendor, (3,), "complex64"), out_like(vendor, (3,), "bool")
    for call in (
        lambda: vendor.op.Lt(result, a, a),
        lambda: vendor.op.Maximum(a, a, a),
        lambda: vendor.op.Div(a, a, a, 1),
        lambda: vendor.op.AbsInp(a),
        lambda: vendor.op.Abs(a, a),
    ):
        with pytest.raises(OperatorError, match="diopiDtypeNotSupported"):
            call()
