"""Tests of pooling with a runtime mode."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from suite import check_cases
from support import out_like

OPERATORS = (
    "Pool1d",
    "Pool1dBackward",
    "Pool2d",
    "Pool2dBackward",
    "Pool3d",
    "Pool3dBackward",
)
HALVES = dict(ksize=[2], stride=[2], padding=[0], dilation=[1], ceil_mode=False, exclusive=True)


@pytest.mark.parametrize("name", OPERATORS)
def test_cases_of_the_suite(vendor: Vendor, name: str) -> None:
    check_cases(vendor, f"diopi{name}")


def test_the_kind_is_an_argument(vendor: Vendor) -> None:
    line, out = vendor.tensor(np.array([[1.0, 3, 8, 4]])), out_like(vendor, (1, 2), "float64")
    for mode, want in (("max", [[3, 8]]), ("avg", [[2, 6]])):
        vendor.op.Pool1d(out, line, mode, adaptive=False, output_size=None, **HALVES)
        assert out.numpy().tolist() == want
        vendor.op.Pool1d(out, line, mode, adaptive=True, output_size=[2], **HALVES)
        assert out.numpy().tolist() == want


def test_maxima_are_found_again_where_indices_are_absent(vendor: Vendor) -> None:
    line, grad = np.array([[1.0, 3, 4, 4, 2, 9]]), np.array([[5.0, 6, 7]])
    out = out_like(vendor, (1, 6), "float64")
    given = (vendor.tensor(grad), vendor.tensor(line), "max")
    vendor.op.Pool1dBackward(out, *given, adaptive=False, indices=None, **HALVES)
    assert out.numpy().tolist() == [[0, 5, 6, 0, 0, 7]]


def test_a_gradient_gives_back_what_an_average_took(vendor: Vendor) -> None:
    """With dilation too, the sum of gradients is preserved for windows inside the plane."""
    rng = np.random.default_rng(1)
    x, grad = vendor.tensor(rng.random((1, 2, 9, 8))), rng.random((1, 2, 5, 3))
    out = out_like(vendor, (1, 2, 9, 8), "float64")
    lists: dict[str, Any] = dict(ksize=[3, 2], stride=[1, 2], padding=[0, 0], dilation=[2, 3])
    flags = dict(ceil_mode=False, exclusive=True, adaptive=False, indices=None)
    vendor.op.Pool2dBackward(out, vendor.tensor(grad), x, "avg", **lists, **flags)
    assert np.isclose(out.numpy().sum(), grad.sum())


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (dict(ksize=[0]), "kernel 0, stride 2, padding 0, dilation 1"),
        (dict(stride=[-2]), "stride -2"),
        (dict(dilation=[-1]), "dilation -1"),
        (dict(ksize=[1 << 62], dilation=[1 << 62]), "window is too large"),
        (dict(ksize=[2, 2]), "the list of kernel sizes has 2 entries; it needs 1 or 1"),
        (dict(stride=[9]), "stride 9, padding 0, on 4 elements give 1 outputs; the output has 2"),
        (dict(ksize=[1 << 31]), "span 2147483648 elements, .* give 0 outputs; the output has 2"),
        (dict(ksize=[1 << 31], padding=[1 << 30]), "give 3 outputs; the output has 2"),
        (dict(padding=[2]), "a padding of 2 is more than half of a window, which spans 2 elements"),
        (dict(stride=[1]), "give 3 outputs; the output has 2"),
        (dict(ksize=[3], ceil_mode=False), "give 1 outputs; the output has 2"),
        (dict(adaptive=True, output_size=[3]), "asks for 3 elements in dim 0 .* the output has 2"),
    ],
)
def test_bad_windows_are_reported(vendor: Vendor, changed: dict[str, Any], message: str) -> None:
    line, out = out_like(vendor, (1, 4), "float32"), out_like(vendor, (1, 2), "float32")
    given = {**HALVES, "adaptive": False, "output_size": None, **changed}
    for mode in ("max", "avg"):
        with pytest.raises(OperatorError, match=message):
            vendor.op.Pool1d(out, line, mode, **given)


def test_a_last_window_reaches_beyond_in_ceil_mode_only(vendor: Vendor) -> None:
    line, out = vendor.tensor(np.array([[1.0, 3, 8, 4]])), out_like(vendor, (1, 2), "float64")
    given = {**HALVES, "ksize": [3], "ceil_mode": True, "adaptive": False, "output_size": None}
    vendor.op.Pool1d(out, line, "max", **given)
    assert out.numpy().tolist() == [[8, 8]]


@pytest.mark.parametrize("mode", ["max", "avg"])
def test_windows_that_are_long_take_no_longer(vendor: Vendor, mode: str) -> None:
    """The loops skip cells in the padding."""
    x, out = out_like(vendor, (1, 1, 4, 4), "float32"), out_like(vendor, (1, 1, 5, 5), "float32")
    long = [1 << 31, 1 << 31] if mode == "max" else [1 << 30, 1 << 30]
    half = [size // 2 for size in long]
    given = dict(HALVES, ksize=long, stride=[1, 1], padding=half, exclusive=True)
    vendor.op.Pool2d(out, x, mode, adaptive=False, output_size=None, **given)
    assert (out.numpy() == 77).all()


@pytest.mark.parametrize("mode", ["max", "avg"])
@pytest.mark.parametrize("adaptive", [False, True])
def test_lines_without_elements_are_reported(vendor: Vendor, mode: str, adaptive: bool) -> None:
    line, out = out_like(vendor, (1, 0), "float32"), out_like(vendor, (1, 1), "float32")
    given = {**HALVES, "padding": [1], "adaptive": adaptive, "output_size": None}
    with pytest.raises(OperatorError, match="planes of the input have no elements"):
        vendor.op.Pool1d(out, line, mode, **given)


def test_bad_gradients_are_reported(vendor: Vendor) -> None:
    line, grad = out_like(vendor, (1, 4), "float32"), out_like(vendor, (1, 2), "float32")
    places = vendor.tensor(np.array([[0, 4]]))
    with pytest.raises(OperatorError, match="index 4 is out of range for planes of 4 elements"):
        vendor.op.Pool1dBackward(line, grad, line, "max", adaptive=False, indices=places, **HALVES)
    with pytest.raises(OperatorError, match="grad_input does not have the shape of the input"):
        vendor.op.Pool1dBackward(grad, grad, line, "avg", adaptive=False, indices=None, **HALVES)
