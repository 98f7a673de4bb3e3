"""Discrete Fourier transforms."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from suite import check_cases
from support import Array, numbers, out_like

ROUNDOFF = {"complex64": 2.0**-24, "complex128": 2.0**-53}


def test_cases_of_the_suite(vendor: Vendor) -> None:
    check_cases(vendor, "dlopFft")


def signal(shape: tuple[int, ...], dtype: str, seed: int = 1) -> Array:
    return np.asarray(numbers(shape, dtype, seed, -1, 1)).astype(dtype)


def transformed(
    vendor: Vendor, given: Array, dim: int = -1, forward: bool = True, scale: float = 1.0
) -> Array:
    out = out_like(vendor, given.shape, str(given.dtype))
    vendor.op.dlopFft(out, vendor.tensor(given), dim, forward, scale)
    return np.asarray(out.numpy())


def energy(array: Array) -> float:
    return float(np.linalg.norm(array.astype(np.complex128)))


@pytest.mark.parametrize("dtype", ROUNDOFF)
@pytest.mark.parametrize(
    "length", [512, 1000, 1009, 2047, 4096, 6561, 7919, 10007, 15625, 16807, 2**16]
)
def test_long_transforms(vendor: Vendor, dtype: str, length: int) -> None:
    """The error grows with the logarithm of the length (Higham, theorem 24.2), in the norm.

    A convolution consists of three transforms of up to four times the length.
    """
    given = signal((3, length), dtype, length)
    want = np.fft.fft(given.astype(np.complex128), axis=-1)
    found = transformed(vendor, given)
    allowed = 3 * 8 * np.log2(4 * length) * ROUNDOFF[dtype]
    assert energy(found - want) <= allowed * energy(want)
    back = transformed(vendor, found, forward=False, scale=1 / length)
    assert energy(back - given) <= 2 * allowed * energy(given)


@pytest.mark.parametrize("length", [1, 2, 3, 5, 8, 31, 60, 64])
def test_transform_of_an_impulse_is_a_row_of_roots(vendor: Vendor, length: int) -> None:
    """The transform of an impulse at 0 is exactly 1, and the transform of a constant is the
    impulse."""
    given = np.zeros((1, length), np.complex64)
    given[0, 0] = 1
    assert np.array_equal(transformed(vendor, given), np.ones((1, length)))
    if length in (1, 2, 8, 64):
        found = transformed(vendor, np.ones((1, length), np.complex64), scale=1 / length)
        assert np.array_equal(found, given)


def test_dimensions_in_the_middle_and_strided_tensors(vendor: Vendor) -> None:
    given = signal((3, 10, 4), "complex128")
    want = np.fft.fft(given, axis=1)
    for dim in (1, -2):
        assert np.allclose(transformed(vendor, given, dim), want, 1e-14, 1e-13)
    turned = np.ascontiguousarray(given.transpose(2, 1, 0)).transpose(2, 1, 0)
    assert np.allclose(transformed(vendor, turned, 1), want, 1e-14, 1e-13)


def test_many_rows_are_transformed_each_alone(vendor: Vendor) -> None:
    given = np.zeros((1000, 24), np.complex64)
    given[:, 1] = np.arange(1000)
    row = np.exp(-2j * np.pi * np.arange(24) / 24)
    want = np.arange(1000)[:, None] * row
    assert np.allclose(transformed(vendor, given), want, 1e-6, 1e-3)


def test_numbers_that_are_none_spread_over_their_row_alone(vendor: Vendor) -> None:
    given = np.ones((2, 6), np.complex64)
    given[0, 2] = np.nan
    found = transformed(vendor, given)
    assert np.isnan(found[0]).all()
    assert np.isfinite(found[1]).all()


def test_bad_arguments_are_reported(vendor: Vendor) -> None:
    def call(shape: tuple[int, ...], out: tuple[int, ...], dim: int, dtype: str) -> None:
        tensors = (out_like(vendor, out, dtype), out_like(vendor, shape, dtype))
        vendor.op.dlopFft(*tensors, dim, True, 1.0)

    with pytest.raises(OperatorError, match="out does not have the shape of input"):
        call((2, 3), (2, 4), 1, "complex64")
    for dim in (2, -3, 2**40, -(2**63)):
        with pytest.raises(OperatorError, match="dim"):
            call((2, 3), (2, 3), dim, "complex64")
    with pytest.raises(OperatorError, match="dim"):
        call((), (), 0, "complex64")
    with pytest.raises(OperatorError, match=r"(?i)dtype"):
        call((2, 3), (2, 3), 1, "float32")
