"""Tests of the error function, functions of the normal distribution, and entropies."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from diopi_proto import Vendor
from diopi_proto.tolerance import OpClass
from functions import Function, check_function, check_many_elements
from suite import check_cases
from support import FLOATS, LAYOUTS, check, exact, out_like, place

erf = np.vectorize(math.erf, otypes=[np.longdouble])


def precise_erf(x: Any) -> Any:
    """Return erf as 2/√π e^(-x²) Σ 2ⁿ x^(2n+1) / (2n+1)!!, whose terms have the same sign."""
    x = np.asarray(x, np.longdouble)
    term = total = x
    for n in range(1, 80):
        term = term * 2 * x * x / (2 * n + 1)
        total = total + term
    return total * np.exp(-x * x) * 2 / np.sqrt(4 * np.arctan(np.longdouble(1)))


def erfinv(y: Any) -> Any:
    """Return erfinv by Newton's method, starting at 0: erf is concave on either side of it."""
    y = np.asarray(y, np.longdouble)
    x = np.zeros_like(y)
    slope = 2 / np.sqrt(4 * np.arctan(np.longdouble(1)))
    for _ in range(40):
        step = (y - precise_erf(x)) / (slope * np.exp(-x * x))
        x = x + step
        # The remaining error is the square of the step.
        if (np.abs(step) < 1e-11).all():
            break
    return x


FUNCTIONS = {
    "Erf": Function(erf, OpClass.ELEMENTARY, -4.0, 4.0),
    "Erfinv": Function(erfinv, OpClass.ELEMENTARY, -0.999, 0.999),
}


@pytest.mark.parametrize("name", ["Entr", "Erfcx", "LogNdtr", "Ndtri", "Xlog1py"])
def test_cases_of_the_suite(vendor: Vendor, name: str) -> None:
    check_cases(vendor, f"dlop{name}")


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_function_agrees_with_reference(vendor: Vendor, name: str, dtype: str, layout: str) -> None:
    check_function(vendor, name, FUNCTIONS[name], dtype, layout)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function_of_many_elements(vendor: Vendor, name: str) -> None:
    check_many_elements(vendor, name, FUNCTIONS[name])


@pytest.mark.parametrize("dtype", FLOATS)
def test_ends_of_the_inverse_error_function(vendor: Vendor, dtype: str) -> None:
    x, _ = place(vendor, [1, -1, 1.5, -2, np.nan, np.inf, 0.0, -0.0], dtype)
    vendor.op.ErfinvInp(x)
    want = np.array([np.inf, -np.inf, np.nan, np.nan, np.nan, np.nan, 0.0, -0.0])
    check(x, want, OpClass.EXACT, "Erfinv")
    assert np.signbit(exact(x.numpy(), dtype)[6:]).tolist() == [False, True]


def test_inverse_error_function_near_its_ends(vendor: Vendor) -> None:
    x = 1 - np.ldexp(1.0, -np.arange(2, 53))
    out = out_like(vendor, x.shape, "float64")
    vendor.op.Erfinv(out, vendor.tensor(x))
    # A step of Newton's method on erfc, which is well conditioned there, gives the error.
    got = out.numpy().astype(np.longdouble)
    missed = np.vectorize(math.erfc)(out.numpy()) - (1 - x).astype(np.longdouble)
    want = got + missed * np.exp(got * got) * np.sqrt(np.arctan(np.longdouble(1)))
    check(out, want, OpClass.ELEMENTARY, "Erfinv")


def test_normal_distribution_and_its_inverse(vendor: Vendor) -> None:
    """In the left tail too, where only logarithms have digits."""
    x = np.linspace(-37, 5, 200)
    log, back = (out_like(vendor, x.shape, "float64") for _ in range(2))
    vendor.op.dlopLogNdtr(log, vendor.tensor(x))
    vendor.op.dlopNdtri(back, vendor.tensor(np.exp(log.numpy())))
    # The effect of rounding the probability, which is largest near 1.
    slope = np.exp(x * x / 2 + log.numpy()) * np.sqrt(2 * np.pi)
    assert (np.abs(back.numpy() - x) <= 1e-14 * (np.abs(log.numpy()) * slope + slope + 40)).all()


def test_erfinv_of_float32_is_right_to_a_few_units(vendor: Vendor) -> None:
    """Compared with the double form, over the whole range and near 1."""
    y = np.concatenate(
        [
            np.linspace(-1, 1, 200_001)[1:-1],
            *(s * (1 - np.arange(1, 4000) * 2.0**-24) for s in (-1, 1)),
            np.exp2(np.linspace(-149, -1, 20_000)),
        ]
    ).astype(np.float32)
    y = y[np.abs(y) < 1]
    single, double = (out_like(vendor, y.shape, dtype) for dtype in ("float32", "float64"))
    vendor.op.Erfinv(single, vendor.tensor(y))
    vendor.op.Erfinv(double, vendor.tensor(y.astype(np.float64)))
    want = double.numpy()
    units = np.abs(single.numpy() - want) / np.spacing(np.abs(want).astype(np.float32))
    assert units.max() < 4
