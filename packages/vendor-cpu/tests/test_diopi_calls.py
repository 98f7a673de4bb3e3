"""Tests of calls in DIOPI's own tests that a strict reading of its headers would decline; see
docs/diopi.md.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from diopi_proto.host import Scalar
from support import Array, numbers, out_like


def result(vendor: Vendor, name: str, shape: tuple[int, ...], dtype: str, *inputs: Any) -> Array:
    """Return the output of an operator whose tensor arguments are given as arrays."""
    out = out_like(vendor, shape, dtype)
    placed = (vendor.tensor(x) if isinstance(x, np.ndarray) else x for x in inputs)
    vendor.op[f"diopi{name}"](out, *placed)
    return out.numpy()


@pytest.mark.parametrize("dtype", ["int64", "float16", "float32", "float64", "complex64"])
@pytest.mark.parametrize("name", ["Mul", "Maximum", "PowTensor", "RemainderTensor", "BitwiseAnd"])
def test_integers_give_results_of_a_higher_category(vendor: Vendor, name: str, dtype: str) -> None:
    a, b = np.array([7, 5, 3, 1], np.int32), np.array([1, 2, 3, 4], np.int32)
    want = result(vendor, name, (4,), "int32", a, b)
    assert np.array_equal(result(vendor, name, (4,), dtype, a, b), want)


def test_results_of_a_lower_category_are_declined(vendor: Vendor) -> None:
    a = np.array([7.5, 5], np.float32)
    with pytest.raises(OperatorError, match="diopiDtypeNotSupported"):
        result(vendor, "Mul", (2,), "int32", a, a)


@pytest.mark.parametrize("wide", ["float16", "float32", "float64"])
@pytest.mark.parametrize("given", ["float16", "float32", "float64"])
@pytest.mark.parametrize("name", ["Asin", "Sqrt", "Exp"])
def test_functions_write_other_floating_dtypes(
    vendor: Vendor, name: str, given: str, wide: str
) -> None:
    x = np.array([0.25, 0.5, 1], given)
    want = result(vendor, name, (3,), given, x).astype(wide)
    assert np.array_equal(result(vendor, name, (3,), wide, x), want)


@pytest.mark.parametrize("other", ["int8", "uint8", "int64", "bool"])
def test_remainders_of_a_floating_number_by_an_integer_of_0_are_nan(
    vendor: Vendor, other: str
) -> None:
    divisors = np.array([0, 1], other)
    got = result(vendor, "Remainder", (2,), "float32", 4.5, divisors)
    assert np.array_equal(got, [np.nan, 0.5], equal_nan=True)
    with pytest.raises(OperatorError, match="division by zero"):
        result(vendor, "Remainder", (2,), "int64", Scalar(4, "int64"), divisors.astype("int64"))


@pytest.mark.parametrize("whole", ["int64", "int16", "uint8", "bool"])
@pytest.mark.parametrize(
    ("name", "after"),
    [
        ("MSELoss", ("mean",)),
        ("SmoothL1Loss", ("sum", 0.5)),
        ("BCELoss", (None, "mean")),
        ("BCEWithLogits", (None, None, "mean")),
    ],
)
def test_targets_of_integers_count_as_numbers(
    vendor: Vendor, name: str, after: tuple[Any, ...], whole: str
) -> None:
    x, target = np.array([0.5, 0.25, 0.75]), np.array([0, 1, 1])
    want, got = (
        result(vendor, name, (), "float64", x, target.astype(d), *after) for d in ("float64", whole)
    )
    assert got == want
    grad = np.array(1.0)
    want, got = (
        result(vendor, f"{name}Backward", (3,), "float64", grad, x, target.astype(d), *after)
        for d in ("float64", whole)
    )
    assert np.array_equal(got, want)


@pytest.mark.parametrize("whole", ["int64", "int8", "bool"])
def test_weights_of_integers_count_as_numbers(vendor: Vendor, whole: str) -> None:
    x, target, weight = np.array([0.5, 0.25, 0.75]), np.array([0, 0.5, 1]), np.array([1, 0, 1])
    for name, before in (("BCELoss", ()), ("BCEWithLogits", (weight.astype(whole),))):
        want, got = (
            result(vendor, name, (3,), "float64", x, target, w, *before, "none")
            for w in (weight.astype("float64"), weight.astype(whole))
        )
        assert np.array_equal(got, want)


@pytest.mark.parametrize("first", ["float16", "float32", "float64", "int8", "int64", "bool"])
@pytest.mark.parametrize("second", ["float32", "float64", "int16", "uint8", "bool", "complex64"])
def test_tensors_of_two_dtypes_are_equal_or_not(vendor: Vendor, first: str, second: str) -> None:
    x = np.array([1, 0, 1, 1])
    a, b, c = x.astype(first), x.astype(second), np.array([1, 0, 1, 0], second)
    assert vendor.op.Equal(vendor.tensor(a), vendor.tensor(b)) is True
    assert vendor.op.Equal(vendor.tensor(a), vendor.tensor(c)) is False
    assert vendor.op.Equal(vendor.tensor(a), vendor.tensor(b[:3].copy())) is False


def test_a_complex_result_gets_the_parts_of_a_complex_number(vendor: Vendor) -> None:
    x = np.array([1 + 2j, -3 + 4j], np.complex64)
    assert result(vendor, "Real", (2,), "complex64", x).tolist() == [1, -3]
    assert result(vendor, "Imag", (2,), "complex64", x).tolist() == [2, 4]


@pytest.mark.parametrize("mode", ["max", "avg"])
def test_cells_of_a_window_without_dilation_are_neighbors(vendor: Vendor, mode: str) -> None:
    image = numbers((2, 3, 6, 7), "float64", 1)
    found = [
        result(vendor, "Pool2d", (2, 3, 2, 3), "float64",
               image, mode, [3, 2], [2, 2], [0, 0], [step, step], False, True, False, None)
        for step in (0, 1)
    ]  # fmt: skip
    assert np.array_equal(*found)


def test_gradients_of_broadcast_points_add_up(vendor: Vendor) -> None:
    a, b = numbers((3, 4), "float64", 1), numbers((2, 5, 4), "float64", 2)
    grad, far = numbers((2, 3, 5), "float64", 3), np.full((2, 3, 5), 2.0)
    arguments = (grad, a, b, 2.0, far)
    each = result(vendor, "CdistBackward", (2, 3, 4), "float64", *arguments)
    summed = result(vendor, "CdistBackward", (3, 4), "float64", *arguments)
    assert np.allclose(each.sum(axis=0), summed, 1e-13, 1e-13)
    assert not np.allclose(each[0], each[1])
    with pytest.raises(OperatorError, match="the shape of input1, or the one it is broadcast to"):
        result(vendor, "CdistBackward", (1, 3, 4), "float64", *arguments)


@pytest.mark.parametrize("mode", ["bilinear", "nearest"])
def test_a_grid_of_the_centers_of_a_volume_gives_the_volume(vendor: Vendor, mode: str) -> None:
    volume = numbers((1, 2, 2, 4, 8), "float64", 4)
    axes = [(np.arange(n) + 0.5) * 2 / n - 1 for n in (2, 4, 8)]
    z, y, x = np.meshgrid(*axes, indexing="ij")
    grid = np.stack([x, y, z], -1)[None]
    got = result(vendor, "GridSample", volume.shape, "float64", volume, grid, mode)
    assert np.array_equal(got, volume)
    outside = result(vendor, "GridSample", volume.shape, "float64", volume, grid + np.nan, mode)
    assert not np.any(outside)
