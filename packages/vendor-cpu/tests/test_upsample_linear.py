"""Tests of resizing by interpolation, and of its gradient."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from diopi_proto.tolerance import OpClass
from pooling_windows import CHANNELS, IMAGE_LAYOUTS, along, out_image, place_image
from resizing import MANY, SIZES, Sizes
from support import FLOATS, Array, Exact, check, numbers, out_like, place, terms

MODES = ("", "linear", "bilinear", "trilinear")
SMOOTH = [(MODES[len(sizes[0])], sizes) for sizes in SIZES] + [
    ("bicubic", sizes) for sizes in SIZES if len(sizes[0]) == 2
]


def position(o: int, size: int, outputs: int, align: bool) -> np.longdouble:
    if align:
        return Exact(o * (size - 1)) / max(outputs - 1, 1)
    return (2 * o + 1) * Exact(size) / (2 * outputs) - Exact(0.5)


def keys(distance: np.longdouble) -> np.longdouble:
    """Return the kernel of cubic convolution with the parameter -3/4, which is 0 from 2 on."""
    d, a = abs(distance), Exact(-0.75)
    if d <= 1:
        return (a + 2) * d**3 - (a + 3) * d**2 + 1
    return a * (d**3 - 5 * d**2 + 8 * d - 4) if d < 2 else Exact(0)


def tent(distance: np.longdouble) -> np.longdouble:
    return max(1 - abs(distance), Exact(0))


def smooth_matrix(size: int, outputs: int, align: bool, cubic: bool) -> tuple[Array, Array]:
    """Return [outputs, inputs]: the weights of the cells, and their magnitudes.

    Beyond the edges the last cell is repeated, so its weight may have terms of both signs.
    """
    result, sizes = np.zeros((2, outputs, size), Exact)
    for o in range(outputs):
        at = position(o, size, outputs, align)
        for cell in range(-3, size + 3):
            weight = keys(at - cell) if cubic else tent(at - cell)
            result[o, min(max(cell, 0), size - 1)] += weight
            sizes[o, min(max(cell, 0), size - 1)] += abs(weight)
    return result, sizes


def smooth_matrices(sizes: Sizes, mode: str, align: bool) -> tuple[list[Array], list[Array]]:
    pairs = zip(*sizes, strict=True)
    both = [smooth_matrix(*pair, align, mode == "bicubic") for pair in pairs]
    return [matrix for matrix, _ in both], [size for _, size in both]


@pytest.mark.parametrize("align", [False, True])
@pytest.mark.parametrize("layout", IMAGE_LAYOUTS)
@pytest.mark.parametrize(("mode", "sizes"), SMOOTH, ids=str)
@pytest.mark.parametrize("dtype", FLOATS)
def test_interpolation(
    vendor: Vendor, dtype: str, mode: str, sizes: Sizes, layout: str, align: bool
) -> None:
    a, x = place_image(vendor, numbers((2, 3, *sizes[0]), dtype, 473), dtype, layout)
    matrices, scales = smooth_matrices(sizes, mode, align)
    out = out_image(vendor, (2, 3, *sizes[1]), dtype, layout)
    vendor.op.UpsampleLinear(out, a, sizes[1], align, mode)
    size = along(np.abs(x), scales)
    bound = terms(4 ** len(sizes[0]), size)
    check(out, along(x, matrices), OpClass.REDUCTION, "UpsampleLinear", **bound)


@pytest.mark.parametrize("align", [False, True])
@pytest.mark.parametrize("layout", IMAGE_LAYOUTS)
@pytest.mark.parametrize(("mode", "sizes"), SMOOTH, ids=str)
@pytest.mark.parametrize("dtype", FLOATS)
def test_gradient_of_interpolation(
    vendor: Vendor, dtype: str, mode: str, sizes: Sizes, layout: str, align: bool
) -> None:
    shape = (2, 3, *sizes[0])
    g, grad = place_image(vendor, numbers((2, 3, *sizes[1]), dtype, 474), dtype, layout)
    matrices, scales = ([m.T for m in some] for some in smooth_matrices(sizes, mode, align))
    out = out_image(vendor, shape, dtype, layout)
    vendor.op.UpsampleLinearBackward(out, g, sizes[1], shape, align, mode)
    size = along(np.abs(grad), scales)
    met = np.maximum(along(np.ones_like(grad), [scale != 0 for scale in scales]), 4)
    bound = {"reduction_length": met.astype(np.int64), "magnitude": size}
    check(out, along(grad, matrices), OpClass.REDUCTION, "UpsampleLinearBackward", **bound)


@pytest.mark.parametrize("layouts", [("dense", CHANNELS), (CHANNELS, "dense")], ids=str)
def test_input_and_output_may_lie_differently(vendor: Vendor, layouts: tuple[str, str]) -> None:
    sizes = ((4, 5), (7, 3))
    a, x = place_image(vendor, numbers((2, 3, *sizes[0]), "float64", 475), "float64", layouts[0])
    out = out_image(vendor, (2, 3, *sizes[1]), "float64", layouts[1])
    vendor.op.UpsampleLinear(out, a, sizes[1], False, "bicubic")
    matrices, scales = smooth_matrices(sizes, "bicubic", False)
    bound = terms(16, along(np.abs(x), scales))
    check(out, along(x, matrices), OpClass.REDUCTION, "UpsampleLinear", **bound)


@pytest.mark.parametrize("layout", ["dense", CHANNELS])
@pytest.mark.parametrize("sizes", MANY, ids=str)
def test_many_cells_are_shared_among_threads(vendor: Vendor, sizes: Sizes, layout: str) -> None:
    lead = (2, 20)
    a, x = place_image(vendor, numbers((*lead, *sizes[0]), "float32", 476), "float32", layout)
    g, grad = place_image(vendor, numbers((*lead, *sizes[1]), "float32", 477), "float32", layout)
    # In float64, which is accurate enough here and much faster.
    narrow, slopes = x.astype(np.float64), grad.astype(np.float64)
    for mode in ("bilinear", "bicubic"):
        matrices, scales = (
            [m.astype(np.float64) for m in some] for some in smooth_matrices(sizes, mode, False)
        )
        out = out_image(vendor, grad.shape, "float32", layout)
        vendor.op.UpsampleLinear(out, a, sizes[1], False, mode)
        bound = terms(16, along(np.abs(narrow), scales))
        check(out, along(narrow, matrices), OpClass.REDUCTION, "UpsampleLinear", **bound)
        gi = out_image(vendor, x.shape, "float32", layout)
        vendor.op.UpsampleLinearBackward(gi, g, sizes[1], x.shape, False, mode)
        matrices, scales = [m.T for m in matrices], [m.T for m in scales]
        bound = terms(100, along(np.abs(slopes), scales))
        check(gi, along(slopes, matrices), OpClass.REDUCTION, "UpsampleLinearBackward", **bound)


def test_corners_are_kept_where_they_are_aligned(vendor: Vendor) -> None:
    a, x = place(vendor, numbers((1, 1, 4, 3), "float32", 478), "float32")
    out = out_like(vendor, (1, 1, 10, 8), "float32")
    for mode in ("bilinear", "bicubic"):
        vendor.op.UpsampleLinear(out, a, (10, 8), True, mode)
        assert np.array_equal(out.numpy()[..., ::9, ::7], x[..., ::3, ::2].astype(np.float32))


def test_empty_batch(vendor: Vendor) -> None:
    x, out = out_like(vendor, (0, 2, 3, 3), "float32"), out_like(vendor, (0, 2, 5, 5), "float32")
    vendor.op.UpsampleLinear(out, x, (5, 5), False, "bilinear")
    vendor.op.UpsampleLinearBackward(x, out, (5, 5), (0, 2, 3, 3), False, "bicubic")
    assert out.numpy().shape == (0, 2, 5, 5)


def test_what_does_not_fit_is_named(vendor: Vendor) -> None:
    x, out = out_like(vendor, (1, 2, 3, 3), "float32"), out_like(vendor, (1, 2, 5, 5), "float32")
    with pytest.raises(OperatorError, match='"linear" does not resize tensors with 4 dimensions'):
        vendor.op.UpsampleLinear(out, x, (5, 5), False, "linear")
    line, longer = out_like(vendor, (1, 2, 3), "float32"), out_like(vendor, (1, 2, 5), "float32")
    with pytest.raises(OperatorError, match='"bicubic" does not resize tensors with 3 dimensions'):
        vendor.op.UpsampleLinear(longer, line, (5,), False, "bicubic")
    with pytest.raises(OperatorError, match="4 and 3 dimensions were given"):
        vendor.op.UpsampleLinear(longer, x, (5, 5), False, "bilinear")
    nothing = out_like(vendor, (1, 2, 0, 3), "float32")
    with pytest.raises(OperatorError, match="nothing to interpolate"):
        vendor.op.UpsampleLinear(out, nothing, (5, 5), True, "bilinear")
    wide = out_like(vendor, (1, 2, 5, 5), "float64")
    with pytest.raises(OperatorError, match="diopiDtypeNotSupported"):
        vendor.op.UpsampleLinear(wide, x, (5, 5), True, "bilinear")
