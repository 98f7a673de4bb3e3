"""Tests of complex numbers from their parts, and of parts of complex numbers."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from suite import check_cases
from support import LAYOUTS, numbers, out_like, place, stored

OPERATORS = (
    "Complex",
    "Polar",
    "Conj",
    "Real",
    "Imag",
)


@pytest.mark.parametrize("name", OPERATORS)
def test_cases_of_the_suite(vendor: Vendor, name: str) -> None:
    check_cases(vendor, f"diopi{name}")


@pytest.mark.parametrize("layout", LAYOUTS)
def test_half_parts(vendor: Vendor, layout: str) -> None:
    parts = [numbers((4, 5), "float16", seed) for seed in (1, 2)]
    real, imaginary = (place(vendor, x, "float16", layout)[0] for x in parts)
    out = out_like(vendor, (4, 5), "complex32", layout)
    vendor.op.Complex(out, real, imaginary)
    assert np.array_equal(out.numpy(), stored(parts[0] + 1j * parts[1], "complex32"))


def test_conjugate_in_place(vendor: Vendor) -> None:
    x = vendor.tensor(np.array([1 + 2j, 3 - 4j], np.complex64))
    vendor.op.Conj(x, x)
    assert x.numpy().tolist() == [1 - 2j, 3 + 4j]


def test_shapes_that_do_not_fit(vendor: Vendor) -> None:
    x, part = out_like(vendor, (3,), "complex64"), out_like(vendor, (2,), "float32")
    with pytest.raises(OperatorError, match=r"\[diopiReal\] the output does not have the shape"):
        vendor.op.Real(part, x)
    with pytest.raises(OperatorError, match=r"\[diopiComplex\] the real part has 2 elements"):
        vendor.op.Complex(x, part, part)
    with pytest.raises(OperatorError, match=r"\[diopiConj\] the output does not have the shape"):
        vendor.op.Conj(out_like(vendor, (2,), "complex64"), x)
