"""Tests of nearest-neighbor resizing, and of its gradient."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from diopi_proto.tolerance import OpClass
from pooling_windows import CHANNELS, IMAGE_LAYOUTS, along, out_image, place_image
from resizing import MANY, SIZES, Sizes
from support import FLOATS, REALS, Array, Exact, check, numbers, out_like


def nearest_matrix(size: int, outputs: int) -> Array:
    """Return [outputs, inputs]: 1 if the output copies the cell."""
    result = np.zeros((outputs, size), Exact)
    for o in range(outputs):
        result[o, o * size // outputs] = 1
    return result


@pytest.mark.parametrize("layout", IMAGE_LAYOUTS)
@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("dtype", REALS)
def test_nearest(vendor: Vendor, dtype: str, sizes: Sizes, layout: str) -> None:
    a, x = place_image(vendor, numbers((2, 3, *sizes[0]), dtype, 471), dtype, layout)
    want = x
    for axis, (size, outputs) in enumerate(zip(*sizes, strict=True)):
        want = np.take(want, [o * size // outputs for o in range(outputs)], axis=2 + axis)
    out = out_image(vendor, (2, 3, *sizes[1]), dtype, layout)
    vendor.op.UpsampleNearest(out, a, sizes[1])
    check(out, want, OpClass.EXACT, "UpsampleNearest")


@pytest.mark.parametrize("layout", IMAGE_LAYOUTS)
@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("dtype", FLOATS)
def test_gradient_of_nearest(vendor: Vendor, dtype: str, sizes: Sizes, layout: str) -> None:
    shape = (2, 3, *sizes[0])
    g, grad = place_image(vendor, numbers((2, 3, *sizes[1]), dtype, 472), dtype, layout)
    matrices = [nearest_matrix(*pair).T for pair in zip(*sizes, strict=True)]
    out = out_image(vendor, shape, dtype, layout)
    vendor.op.UpsampleNearestBackward(out, g, sizes[1], shape)
    met = np.maximum(along(np.ones_like(grad), matrices), 1).astype(np.int64)
    terms = {"reduction_length": met, "magnitude": along(np.abs(grad), matrices)}
    check(out, along(grad, matrices), OpClass.REDUCTION, "UpsampleNearestBackward", **terms)


@pytest.mark.parametrize("layouts", [("dense", CHANNELS), (CHANNELS, "dense")], ids=str)
def test_input_and_output_may_lie_differently(vendor: Vendor, layouts: tuple[str, str]) -> None:
    sizes = ((4, 5), (7, 3))
    a, x = place_image(vendor, numbers((2, 3, *sizes[0]), "float64", 475), "float64", layouts[0])
    out = out_image(vendor, (2, 3, *sizes[1]), "float64", layouts[1])
    vendor.op.UpsampleNearest(out, a, sizes[1])
    matrices = [nearest_matrix(*pair) for pair in zip(*sizes, strict=True)]
    check(out, along(x, matrices), OpClass.EXACT, "UpsampleNearest")


@pytest.mark.parametrize("layout", ["dense", CHANNELS])
@pytest.mark.parametrize("sizes", MANY, ids=str)
def test_many_cells_are_shared_among_threads(vendor: Vendor, sizes: Sizes, layout: str) -> None:
    lead = (2, 20)
    a, x = place_image(vendor, numbers((*lead, *sizes[0]), "float32", 476), "float32", layout)
    out = out_image(vendor, (*lead, *sizes[1]), "float32", layout)
    vendor.op.UpsampleNearest(out, a, sizes[1])
    rows, columns = (np.arange(m) * n // m for n, m in zip(*sizes, strict=True))
    check(out, x[:, :, rows][..., columns], OpClass.EXACT, "UpsampleNearest")


def test_empty_batch(vendor: Vendor) -> None:
    x, out = out_like(vendor, (0, 2, 3, 3), "float32"), out_like(vendor, (0, 2, 5, 5), "float32")
    vendor.op.UpsampleNearest(out, x, (5, 5))
    vendor.op.UpsampleNearestBackward(x, out, (5, 5), (0, 2, 3, 3))
    assert out.numpy().shape == (0, 2, 5, 5)


def test_what_does_not_fit_is_named(vendor: Vendor) -> None:
    x, out = out_like(vendor, (1, 2, 3, 3), "float32"), out_like(vendor, (1, 2, 5, 5), "float32")
    flat = out_like(vendor, (3, 3), "float32")
    with pytest.raises(OperatorError, match="2 dimensions was given; it needs 3 to 5"):
        vendor.op.UpsampleNearest(flat, flat, (3,))
    with pytest.raises(OperatorError, match="2 and 3 elements in dim 1 were given"):
        vendor.op.UpsampleNearest(out_like(vendor, (1, 3, 5, 5), "float32"), x, (5, 5))
    nothing = out_like(vendor, (1, 2, 0, 3), "float32")
    with pytest.raises(OperatorError, match="nothing to repeat: the input is empty"):
        vendor.op.UpsampleNearest(out, nothing, (5, 5))
