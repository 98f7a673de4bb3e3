"""Complex numbers from their parts, and parts of complex numbers."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from referenced import run
from support import COMPLEXES, EVERY, LAYOUTS, Array, numbers, out_like, place, stored


def complex_of(real: Array, imag: Array) -> dict[str, Array]:
    return {"out": real + 1j * imag}


def conj(input: Array) -> dict[str, Array]:
    return {"out": np.conj(input)}


def real_part(input: Array) -> dict[str, Array]:
    return {"out": input.real}


def imaginary_part(input: Array) -> dict[str, Array]:
    return {"out": input.imag}


def polar(abs: Array, angle: Array) -> dict[str, Array]:
    return {"out": abs * (np.cos(angle) + 1j * np.sin(angle))}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_from_parts(vendor: Vendor, dtype: str, layout: str) -> None:
    parts = numbers((4, 5), dtype, 1), numbers((4, 5), dtype, 2)
    run(vendor, "diopiComplex", complex_of, dtype, layout, real=parts[0], imag=parts[1])
    size, angle = np.abs(parts[0]), parts[1] * 20
    run(vendor, "diopiPolar", polar, dtype, layout, abs=size, angle=angle)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_half_parts(vendor: Vendor, layout: str) -> None:
    parts = [numbers((4, 5), "float16", seed) for seed in (1, 2)]
    real, imaginary = (place(vendor, x, "float16", layout)[0] for x in parts)
    out = out_like(vendor, (4, 5), "complex32", layout)
    vendor.op.Complex(out, real, imaginary)
    assert np.array_equal(out.numpy(), stored(parts[0] + 1j * parts[1], "complex32"))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", EVERY)
def test_conjugates(vendor: Vendor, dtype: str, layout: str) -> None:
    for shape in ((), (3, 4), (0, 2)):
        x = numbers(shape, dtype, 3)
        run(vendor, "diopiConj", conj, dtype, layout, input=x)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", COMPLEXES)
def test_parts(vendor: Vendor, dtype: str, layout: str) -> None:
    for shape in ((), (3, 4), (0, 2)):
        x = numbers(shape, dtype, 4)
        run(vendor, "diopiReal", real_part, dtype, layout, input=x)
        run(vendor, "diopiImag", imaginary_part, dtype, layout, input=x)


def test_conjugate_in_place(vendor: Vendor) -> None:
    x = vendor.tensor(np.array([1 + 2j, 3 - 4j], np.complex64))
    vendor.op.Conj(x, x)
    assert x.numpy().tolist() == [1 - 2j, 3 + 4j]


def test_shapes_that_do_not_fit(vendor: Vendor) -> None:
    x, part = out_like(vendor, (3,), "complex64"), out_like(vendor, (2,), "float32")
    with pytest.raises(OperatorError, match=r"\[diopiReal\] the output does not have the shape"):
        vendor.op.Real(part, x)
    with pytest.raises(OperatorError, match=r"\[diopiComplex\] the first part has 2 elements"):
        vendor.op.Complex(x, part, part)
    with pytest.raises(OperatorError, match=r"\[diopiConj\] the output does not have the shape"):
        vendor.op.Conj(out_like(vendor, (2,), "complex64"), x)
