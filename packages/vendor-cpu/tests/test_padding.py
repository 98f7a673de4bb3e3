"""Tests of reflection, replication and constant padding."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from diopi_proto.tolerance import OpClass
from support import LAYOUTS, REALS, check, numbers, out_like, place

PADS = {"reflect": "reflect", "replicate": "edge", "circular": "wrap", "constant": "constant"}


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


@pytest.mark.parametrize("mode", PADS)
@pytest.mark.parametrize("shape", [(90,), (3, 40), (2, 3, 33), (2, 1, 2, 100)])
def test_pads_of_every_width(vendor: Vendor, shape: tuple[int, ...], mode: str) -> None:
    x = numbers(shape, "float32", 325).astype(np.float32)
    for before, after in ((0, 0), (1, 0), (0, 31), (30, 2), (32, 32)):
        sides = ((0, 0),) * (len(shape) - 1) + ((before, after),)
        want = np.pad(x, sides, PADS[mode])  # type: ignore[call-overload]
        out = out_like(vendor, want.shape, "float32")
        vendor.op.Pad(out, vendor.tensor(x), [before, after], mode, 0.0)
        assert np.array_equal(out.numpy(), want)


def test_nothing_is_padded_by_a_constant(vendor: Vendor) -> None:
    out = out_like(vendor, (2, 3), "float32")
    vendor.op.Pad(out, out_like(vendor, (2, 0), "float32"), [1, 2], "constant", 5.0)
    assert out.numpy().tolist() == [[5.0] * 3] * 2


def test_negative_pads_crop(vendor: Vendor) -> None:
    x = np.arange(20.0, dtype=np.float32).reshape(4, 5)
    out = out_like(vendor, (2, 5), "float32")
    vendor.op.Pad(out, vendor.tensor(x), [-2, 2, -1, -1], "constant", None)
    assert np.array_equal(out.numpy(), np.pad(x[1:3, 2:], ((0, 0), (0, 2))))


def test_padding_that_does_not_fit_is_named(vendor: Vendor) -> None:
    a = out_like(vendor, (2, 3), "float32")
    with pytest.raises(OperatorError, match="3 and 0 cells does not fit the 3 elements of dim 1"):
        vendor.op.Pad(out_like(vendor, (2, 6), "float32"), a, [3, 0], "reflect", None)
