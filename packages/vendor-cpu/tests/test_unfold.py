"""Tests of sliding windows over lines and images."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from diopi_proto.tolerance import OpClass
from suite import check_cases
from support import FLOATS, LAYOUTS, check, numbers, out_like, place


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("size", "step"), [(3, 1), (2, 3), (4, 2), (1, 1)])
@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize("dtype", FLOATS)
def test_windows_are_added_back(
    vendor: Vendor, dtype: str, dim: int, size: int, step: int, layout: str
) -> None:
    shape = (7, 8)
    count = (shape[dim] - size) // step + 1
    g, grad = place(
        vendor,
        numbers((count, shape[1], size) if dim == 0 else (shape[0], count, size), dtype, 325),
        dtype,
        layout,
    )
    want, magnitude = np.zeros(shape, np.longdouble), np.zeros(shape, np.longdouble)
    for w in range(count):
        for k in range(size):
            at = [slice(None), slice(None)]
            at[dim] = w * step + k  # type: ignore[call-overload]
            part = np.take(grad[..., k], w, axis=dim)
            want[tuple(at)] += part
            magnitude[tuple(at)] += np.abs(part)
    out = out_like(vendor, shape, dtype, layout)
    vendor.op.UnfoldBackward(out, g, list(shape), dim, size, step)
    check(
        out, want, OpClass.REDUCTION, "UnfoldBackward", reduction_length=size, magnitude=magnitude
    )


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_columns_and_images(vendor: Vendor, dtype: str, layout: str) -> None:
    a, x = place(vendor, numbers((2, 3, 6, 7), dtype, 326), dtype, layout)
    (kh, kw), (dh, dw), (ph, pw), (sh, sw) = (2, 3), (2, 1), (1, 0), (1, 2)
    rows, columns = (
        (6 + 2 * ph - dh * (kh - 1) - 1) // sh + 1,
        (7 + 2 * pw - dw * (kw - 1) - 1) // sw + 1,
    )
    padded = np.pad(x, ((0, 0), (0, 0), (ph, ph), (pw, pw)))
    want = np.zeros((2, 3, kh, kw, rows, columns), x.dtype)
    back = np.zeros_like(padded)
    for i in range(kh):
        for j in range(kw):
            part = np.s_[
                :, :, i * dh : i * dh + sh * rows : sh, j * dw : j * dw + sw * columns : sw
            ]
            want[:, :, i, j] = padded[part]
            back[part] += padded[part]
    lists = ([kh, kw], [dh, dw], [ph, pw], [sh, sw])
    flat = want.reshape(2, 3 * kh * kw, rows * columns)
    out = out_like(vendor, flat.shape, dtype, layout)
    vendor.op.Im2Col(out, a, *lists)
    check(out, flat, OpClass.EXACT, "Im2Col")
    image = out_like(vendor, x.shape, dtype, layout)
    vendor.op.Col2Im(image, out, [6, 7], *lists)
    inner = back[:, :, ph : ph + 6, pw : pw + 7]
    check(image, inner, OpClass.REDUCTION, "Col2Im", reduction_length=6, magnitude=np.abs(inner))


def test_cases_of_windows(vendor: Vendor) -> None:
    check_cases(vendor, "diopiUnfold")


def test_windows_that_do_not_fit(vendor: Vendor) -> None:
    x = out_like(vendor, (3,), "float32")
    for size, step in ((4, 1), (-1, 1), (2, 0)):
        with pytest.raises(OperatorError, match=rf"windows of {size} elements every {step} do not"):
            vendor.op.Unfold(x, x, 0, size, step)
