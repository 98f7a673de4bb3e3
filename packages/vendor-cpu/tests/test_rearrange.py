"""Elements in another order, padding, and windows of images."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from diopi_proto.tolerance import OpClass
from support import FLOATS, LAYOUTS, REALS, check, numbers, out_like, place

PADS = {"reflect": "reflect", "replicate": "edge", "circular": "wrap", "constant": "constant"}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dims", [[0], [-1], [0, 2], [0, 1, 2], []], ids=str)
@pytest.mark.parametrize("dtype", REALS)
def test_flip(vendor: Vendor, dtype: str, dims: list[int], layout: str) -> None:
    a, x = place(vendor, numbers((3, 4, 70), dtype, 321), dtype, layout)
    out = out_like(vendor, x.shape, dtype, layout)
    vendor.op.Flip(out, a, dims)
    check(out, np.flip(x, dims) if dims else x, OpClass.EXACT, "Flip")


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    ("shifts", "dims"), [([1], [0]), ([-2, 5], [1, -1]), ([1, 2], [2, 2]), ([7, 0, 3], [0, 1, 2])]
)
@pytest.mark.parametrize("dtype", REALS)
def test_roll(vendor: Vendor, dtype: str, shifts: list[int], dims: list[int], layout: str) -> None:
    a, x = place(vendor, numbers((3, 4, 5), dtype, 322), dtype, layout)
    out = out_like(vendor, x.shape, dtype, layout)
    vendor.op.Roll(out, a, shifts, dims)
    check(out, np.roll(x, shifts, dims), OpClass.EXACT, "Roll")


def test_roll_of_all_elements(vendor: Vendor) -> None:
    x = np.arange(12.0, dtype=np.float32).reshape(3, 4)
    out = out_like(vendor, (3, 4), "float32")
    vendor.op.Roll(out, vendor.tensor(x), [-5], [])
    assert np.array_equal(out.numpy(), np.roll(x, -5))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", REALS)
def test_repeat_and_permute(vendor: Vendor, dtype: str, layout: str) -> None:
    a, x = place(vendor, numbers((3, 4, 5), dtype, 323), dtype, layout)
    want = np.tile(x, (2, 1, 3, 2))
    out = out_like(vendor, want.shape, dtype, layout)
    vendor.op.Repeat(out, a, [2, 1, 3, 2])
    check(out, want, OpClass.EXACT, "Repeat")
    out = out_like(vendor, (5, 3, 4), dtype, layout)
    vendor.op.Permute(out, a, [2, 0, -2])
    check(out, x.transpose(2, 0, 1), OpClass.EXACT, "Permute")
    out = out_like(vendor, (5, 4, 3), dtype, layout)
    vendor.op.Transpose(out, a, 0, -1)
    check(out, x.transpose(2, 1, 0), OpClass.EXACT, "Transpose")


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("mode", PADS)
@pytest.mark.parametrize("dtype", REALS)
def test_pad(vendor: Vendor, dtype: str, mode: str, layout: str) -> None:
    a, x = place(vendor, numbers((2, 3, 4, 5), dtype, 324), dtype, layout)
    sides = ((0, 0), (0, 0), (3, 1), (2, 4))
    extra = {"constant_values": 1} if mode == "constant" else {}
    want = np.pad(x, sides, PADS[mode], **extra)  # type: ignore[call-overload]
    out = out_like(vendor, want.shape, dtype, layout)
    vendor.op.Pad(out, a, [2, 4, 3, 1], mode, 1.0)
    check(out, want, OpClass.EXACT, "Pad")


def test_negative_pads_crop(vendor: Vendor) -> None:
    x = np.arange(20.0, dtype=np.float32).reshape(4, 5)
    out = out_like(vendor, (2, 5), "float32")
    vendor.op.Pad(out, vendor.tensor(x), [-2, 2, -1, -1], "constant", None)
    assert np.array_equal(out.numpy(), np.pad(x[1:3, 2:], ((0, 0), (0, 2))))


def test_padding_that_does_not_fit_is_named(vendor: Vendor) -> None:
    a = out_like(vendor, (2, 3), "float32")
    with pytest.raises(OperatorError, match="3 and 0 cells does not fit the 3 elements of dim 1"):
        vendor.op.Pad(out_like(vendor, (2, 6), "float32"), a, [3, 0], "reflect", None)


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


@pytest.mark.parametrize("p", [0.5, 1.0, 2.0, float("inf")])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_rows_are_scaled_down_to_a_norm(vendor: Vendor, dtype: str, layout: str, p: float) -> None:
    w, weight = place(vendor, numbers((6, 9), dtype, 327), dtype, layout)
    want = weight.copy()
    for row in (4, 1):
        norm = np.linalg.norm(weight[row], p)
        if norm > 2:
            want[row] *= np.longdouble(2) / (norm + np.longdouble(1e-7))
    vendor.op.EmbeddingRenorm_(w, vendor.tensor(np.array([4, 1, 4])), 2.0, p)
    check(w, want, OpClass.ELEMENTARY, "EmbeddingRenorm_")
