"""Pooling of images."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from diopi_proto.tolerance import OpClass
from support import FLOATS, Array, check, numbers, out_like, place

# kernel, stride, padding, dilation, ceil_mode
WINDOWS = [
    ((2, 2), (2, 2), (0, 0), (1, 1), False),
    ((3, 2), (2, 1), (1, 0), (1, 1), False),
    ((3, 3), (2, 2), (1, 1), (1, 1), True),
    ((2, 2), (1, 1), (0, 0), (2, 3), False),
]


def outputs(size: int, kernel: int, stride: int, padding: int, dilation: int, ceil: bool) -> int:
    span = size + 2 * padding - dilation * (kernel - 1) - 1
    count = (span + (stride - 1 if ceil else 0)) // stride + 1
    # A window must begin inside the image or its left padding.
    return count - 1 if ceil and (count - 1) * stride >= size + padding else count


def max_pool(
    x: Array, shape: tuple[int, int], window: tuple[tuple[int, int], ...]
) -> tuple[Array, Array]:
    (kh, kw), (sh, sw), (ph, pw), (dh, dw) = window
    values = np.zeros((*x.shape[:-2], *shape), x.dtype)
    where = np.zeros(values.shape, np.int64)
    height, width = x.shape[-2:]
    for i in range(shape[0]):
        for j in range(shape[1]):
            rows = [y for y in range(i * sh - ph, i * sh - ph + kh * dh, dh) if 0 <= y < height]
            columns = [z for z in range(j * sw - pw, j * sw - pw + kw * dw, dw) if 0 <= z < width]
            part = x[..., rows, :][..., columns].reshape(*x.shape[:-2], -1)
            best = part.argmax(axis=-1)
            places = np.array([y * width + z for y in rows for z in columns])
            values[..., i, j] = np.take_along_axis(part, best[..., None], -1)[..., 0]
            where[..., i, j] = places[best]
    return values, where


@pytest.mark.parametrize("layout", ["dense", "transposed"])
@pytest.mark.parametrize("window", WINDOWS, ids=str)
@pytest.mark.parametrize("dtype", FLOATS)
def test_max_pool_and_its_gradient(
    vendor: Vendor,
    dtype: str,
    window: tuple[tuple[int, int], tuple[int, int], tuple[int, int], tuple[int, int], bool],
    layout: str,
) -> None:
    *geometry, ceil = window
    kernel, stride, padding, dilation = geometry
    shape = (2, 3, 9, 8)
    a, x = place(vendor, np.round(numbers(shape, dtype, 131, -8, 8)), dtype, layout)
    size = tuple(
        outputs(shape[2 + i], kernel[i], stride[i], padding[i], dilation[i], ceil) for i in range(2)
    )
    want, where = max_pool(x, (size[0], size[1]), tuple(geometry))
    out = out_like(vendor, want.shape, dtype, layout)
    indices = out_like(vendor, want.shape, "int64", layout)
    vendor.op.MaxPool2dWithIndices(out, indices, a, *geometry, ceil)
    check(out, want, OpClass.EXACT, "MaxPool2dWithIndices")
    assert np.array_equal(indices.numpy(), where)
    alone = out_like(vendor, want.shape, dtype)
    vendor.op.MaxPool2d(alone, a, *geometry, ceil)
    assert np.array_equal(alone.numpy(), out.numpy())

    g, grad = place(vendor, numbers(want.shape, dtype, 132), dtype, layout)
    gradient, sizes = np.zeros((2, 3, 72), x.dtype), np.zeros((2, 3, 72), x.dtype)
    for n, c in np.ndindex(2, 3):
        np.add.at(gradient[n, c], where[n, c].ravel(), grad[n, c].ravel())
        np.add.at(sizes[n, c], where[n, c].ravel(), np.abs(grad[n, c].ravel()))
    gi = out_like(vendor, shape, dtype, layout)
    vendor.op.MaxPool2dBackward(gi, g, a, *geometry, ceil, indices)
    check(
        gi,
        gradient.reshape(shape),
        OpClass.REDUCTION,
        "MaxPool2dBackward",
        reduction_length=9,
        magnitude=sizes.reshape(shape),
    )


def test_max_pool_keeps_nan(vendor: Vendor) -> None:
    x = np.arange(16, dtype=np.float32).reshape(1, 4, 4)
    x[0, 0, 0] = np.nan
    out = out_like(vendor, (1, 2, 2), "float32")
    vendor.op.MaxPool2d(out, vendor.tensor(x), (2, 2), (2, 2), (0, 0), (1, 1), False)
    assert np.isnan(out.numpy()[0, 0, 0])
    assert out.numpy()[0, 1, 1] == 15


def test_max_pool_gradient_refuses_bad_indices(vendor: Vendor) -> None:
    x, g = out_like(vendor, (1, 1, 4, 4), "float32"), out_like(vendor, (1, 1, 2, 2), "float32")
    bad = vendor.tensor(np.full((1, 1, 2, 2), 16))
    with pytest.raises(OperatorError, match="index 16"):
        vendor.op.MaxPool2dBackward(x, g, x, (2, 2), (2, 2), (0, 0), (1, 1), False, bad)


def mean_windows(
    shape: tuple[int, int],
    size: tuple[int, ...],
    window: tuple[tuple[int, int], ...],
    include: bool,
) -> tuple[Array, Array]:
    """The weight of every input element in every output: (out, in), and the counts."""
    (kh, kw), (sh, sw), (ph, pw) = window
    weights = np.zeros((*size, *shape))
    counts = np.zeros(size)
    for i, j in np.ndindex(*size):
        y0, x0 = i * sh - ph, j * sw - pw
        y1, x1 = min(y0 + kh, shape[0] + ph), min(x0 + kw, shape[1] + pw)
        padded = (y1 - y0) * (x1 - x0)
        y0, x0, y1, x1 = max(y0, 0), max(x0, 0), min(y1, shape[0]), min(x1, shape[1])
        weights[i, j, y0:y1, x0:x1] = 1
        counts[i, j] = padded if include else (y1 - y0) * (x1 - x0)
    return weights, counts


@pytest.mark.parametrize("divisor", [None, 5])
@pytest.mark.parametrize("include", [True, False])
@pytest.mark.parametrize("window", WINDOWS[:3], ids=str)
@pytest.mark.parametrize("dtype", FLOATS)
def test_avg_pool_and_its_gradient(
    vendor: Vendor,
    dtype: str,
    window: tuple[tuple[int, int], tuple[int, int], tuple[int, int], tuple[int, int], bool],
    include: bool,
    divisor: int | None,
) -> None:
    *geometry, dilation, ceil = window
    kernel, stride, padding = geometry
    size = tuple(
        outputs((9, 8)[i], kernel[i], stride[i], padding[i], dilation[i], ceil) for i in range(2)
    )
    weights, counts = mean_windows((9, 8), size, tuple(geometry), include)
    if divisor is not None:
        counts[:] = divisor
    a, x = place(vendor, numbers((2, 3, 9, 8), dtype, 133), dtype, "transposed")
    scaled = (weights / 1).astype(np.longdouble) / counts[..., None, None].astype(np.longdouble)
    out = out_like(vendor, (2, 3, *size), dtype)
    vendor.op.AvgPool2d(out, a, *geometry, ceil, include, divisor)
    want = np.einsum("ncyx,ijyx->ncij", x, scaled)
    check(
        out,
        want,
        OpClass.REDUCTION,
        "AvgPool2d",
        reduction_length=9,
        magnitude=np.einsum("ncyx,ijyx->ncij", np.abs(x), scaled),
    )
    g, grad = place(vendor, numbers((2, 3, *size), dtype, 134), dtype)
    gi = out_like(vendor, (2, 3, 9, 8), dtype)
    vendor.op.AvgPool2dBackward(gi, g, a, *geometry, ceil, include, divisor)
    want = np.einsum("ncij,ijyx->ncyx", grad, scaled)
    check(
        gi,
        want,
        OpClass.REDUCTION,
        "AvgPool2dBackward",
        reduction_length=9,
        magnitude=np.einsum("ncij,ijyx->ncyx", np.abs(grad), scaled),
    )


@pytest.mark.parametrize("size", [(1, 1), (3, 5), (9, 8), (12, 2)], ids=str)
@pytest.mark.parametrize("dtype", FLOATS)
def test_adaptive_avg_pool_and_its_gradient(
    vendor: Vendor, dtype: str, size: tuple[int, int]
) -> None:
    scaled = np.zeros((*size, 9, 8), np.longdouble)
    for i, j in np.ndindex(*size):
        y0, y1 = i * 9 // size[0], -(-(i + 1) * 9 // size[0])
        x0, x1 = j * 8 // size[1], -(-(j + 1) * 8 // size[1])
        scaled[i, j, y0:y1, x0:x1] = np.longdouble(1) / ((y1 - y0) * (x1 - x0))
    a, x = place(vendor, numbers((2, 3, 9, 8), dtype, 135), dtype)
    out = out_like(vendor, (2, 3, *size), dtype)
    vendor.op.AdaptiveAvgPool2d(out, a, size)
    want = np.einsum("ncyx,ijyx->ncij", x, scaled)
    check(
        out,
        want,
        OpClass.REDUCTION,
        "AdaptiveAvgPool2d",
        reduction_length=72,
        magnitude=np.einsum("ncyx,ijyx->ncij", np.abs(x), scaled),
    )
    g, grad = place(vendor, numbers((2, 3, *size), dtype, 136), dtype)
    gi = out_like(vendor, (2, 3, 9, 8), dtype)
    vendor.op.AdaptiveAvgPool2dBackward(gi, g, a)
    want = np.einsum("ncij,ijyx->ncyx", grad, scaled)
    check(
        gi,
        want,
        OpClass.REDUCTION,
        "AdaptiveAvgPool2dBackward",
        reduction_length=16,
        magnitude=np.einsum("ncij,ijyx->ncyx", np.abs(grad), scaled),
    )
