"""Exponentials and logarithms."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import NotSupportedError, OperatorError, Vendor
from diopi_proto.tolerance import OpClass
from functions import (
    Function,
    Range,
    check_function,
    check_limits,
    check_many_elements,
    check_outside_of_domain,
    check_signs_of_zeros,
    check_whole_range,
)
from support import FLOATS, LAYOUTS, check, numbers, out_like, place

FUNCTIONS = {
    "Exp": Function(np.exp, OpClass.ELEMENTARY, -9.0, 9.0),
    "Expm1": Function(np.expm1, OpClass.ELEMENTARY, -3.0, 3.0),
    "Log": Function(np.log, OpClass.ELEMENTARY, 0.01, 30.0),
    "Log2": Function(np.log2, OpClass.ELEMENTARY, 0.01, 30.0),
    "Log10": Function(np.log10, OpClass.ELEMENTARY, 0.01, 30.0),
    "Log1p": Function(np.log1p, OpClass.ELEMENTARY, -0.9, 30.0),
}
WHOLE_RANGE = {
    "Exp": Range(np.exp, -104.0, 89.0, 1.1),
    "Expm1": Range(np.expm1, -30.0, 89.0, 1.7),
    "Log": Range(np.log, 0.0, np.inf, 1.0),
    "Log2": Range(np.log2, 0.0, np.inf, 1.1),
    "Log10": Range(np.log10, 0.0, np.inf, 1.1),
    "Log1p": Range(np.log1p, -1.0, np.inf, 1.6),
}
# Without fused multiply-add, products are rounded before the addition.
WITHOUT_FMA = {"Log2": 1.7, "Log10": 1.6}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_function_agrees_with_reference(vendor: Vendor, name: str, dtype: str, layout: str) -> None:
    check_function(vendor, name, FUNCTIONS[name], dtype, layout)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function_of_many_elements(vendor: Vendor, name: str) -> None:
    check_many_elements(vendor, name, FUNCTIONS[name])


@pytest.mark.parametrize("name", WHOLE_RANGE)
def test_error_over_the_whole_range(vendor: Vendor, name: str) -> None:
    whole = WHOLE_RANGE[name]
    if vendor.host_accessible and vendor.properties(0).architecture == "x86-64-v2":
        whole = whole._replace(bound=WITHOUT_FMA.get(name, whole.bound))
    check_whole_range(vendor, name, whole)


@pytest.mark.parametrize("name", WHOLE_RANGE)
def test_values_outside_of_the_domain(vendor: Vendor, name: str) -> None:
    check_outside_of_domain(vendor, name, WHOLE_RANGE[name])


@pytest.mark.parametrize("dtype", FLOATS)
def test_nan_and_infinity_pass_through(vendor: Vendor, dtype: str) -> None:
    for name in ("Exp", "Log"):
        check_limits(vendor, name, FUNCTIONS[name].reference, dtype)


@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (1, 1, 1)])
def test_shapes_without_extent(vendor: Vendor, shape: tuple[int, ...]) -> None:
    x, values = place(vendor, numbers(shape, "float32", 4), "float32")
    out = out_like(vendor, shape, "float32")
    vendor.op.Exp(out, x)
    check(out, np.exp(values), OpClass.ELEMENTARY, "Exp")


def test_exp_over_its_whole_range(vendor: Vendor) -> None:
    x, values = place(vendor, np.linspace(-110.0, 95.0, 40_001), "float32")
    out = out_like(vendor, (40_001,), "float32")
    vendor.op.Exp(out, x)
    check(out, np.exp(values), OpClass.ELEMENTARY, "Exp")


def test_log_of_subnormal_numbers(vendor: Vendor) -> None:
    x, values = place(vendor, np.ldexp(1.0, np.arange(-149, 128)) * 1.3, "float32")
    out = out_like(vendor, values.shape, "float32")
    vendor.op.Log(out, x)
    check(out, np.log(values), OpClass.ELEMENTARY, "Log")


def test_integers_have_no_exponential(vendor: Vendor) -> None:
    x = place(vendor, [1, 2], "int32")[0]
    with pytest.raises((NotSupportedError, OperatorError)):
        vendor.op.Exp(out_like(vendor, (2,), "int32"), x)


def test_exponentials_of_masked_scores_are_zero(vendor: Vendor) -> None:
    x = np.array([-np.inf, -1e30, -105.0, -104.1, -103.0, -88.0, 0.0, np.nan], np.float32)
    out = out_like(vendor, x.shape, "float32")
    vendor.op.Exp(out, vendor.tensor(x))
    want = np.exp(x.astype(np.float64)).astype(np.float32)
    np.testing.assert_allclose(out.numpy(), want, rtol=1e-6, atol=1.5e-45)
    assert not out.numpy()[:4].any()


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", ["Expm1", "Log1p"])
def test_zeros_keep_their_signs(vendor: Vendor, name: str, dtype: str) -> None:
    check_signs_of_zeros(vendor, name, dtype)
