"""Tests of loss scaling and gradient scaling."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import Vendor
from diopi_proto.tolerance import OpClass
from support import FLOATS, check, numbers, place


@pytest.mark.parametrize("dtype", FLOATS)
def test_unscaling_finds_what_is_not_finite(vendor: Vendor, dtype: str) -> None:
    good, x = place(vendor, numbers((5, 40), dtype, 181), dtype, "transposed")
    found, scale = vendor.tensor(np.zeros((), np.float32)), vendor.tensor(np.array(0.5, np.float32))
    vendor.op.AmpForeachNonFiniteCheckAndUnscaleInp([good], found, scale)
    check(good, x / 2, OpClass.EXACT, "unscale")
    assert found.numpy() == 0
    for value in (np.nan, np.inf, -np.inf):
        found = vendor.tensor(np.zeros((), np.float32))
        source = np.ones(100)
        source[57] = value
        vendor.op.AmpForeachNonFiniteCheckAndUnscaleInp(
            [good, place(vendor, source, dtype)[0]], found, scale
        )
        assert found.numpy() == 1


def test_unscaling_takes_many_gradients(vendor: Vendor) -> None:
    shapes = [(3, i) for i in range(30)] + [(95, 95)]
    placed = [
        place(
            vendor,
            numbers(shape, "float32", 300 + i),
            ("float16", "float32")[i > 27],
            ("dense", "transposed")[i % 5 == 2],
        )
        for i, shape in enumerate(shapes)
    ]
    found, scale = vendor.tensor(np.zeros((), np.float32)), vendor.tensor(np.array(4, np.float32))
    grads = [grad for grad, _ in placed]
    vendor.op.AmpForeachNonFiniteCheckAndUnscaleInp(grads, found, scale)
    for grad, x in placed:
        check(grad, x * 4, OpClass.EXACT, "unscale")
    assert found.numpy() == 0
    # The last element of the last gradient.
    source = np.zeros((95, 95), np.float32)
    source[-1, -1] = np.inf
    grads[-1] = vendor.tensor(source)
    vendor.op.AmpForeachNonFiniteCheckAndUnscaleInp(grads, found, scale)
    assert found.numpy() == 1


def test_scale_that_would_overflow_stays(vendor: Vendor) -> None:
    scale = vendor.tensor(np.array([3e38], np.float32))
    tracker = vendor.tensor(np.array([0], np.int32))
    vendor.op.AmpUpdateScaleInp(scale, tracker, vendor.tensor(np.zeros(1, np.float32)), 2.0, 0.5, 1)
    assert (scale.numpy()[0], tracker.numpy()[0]) == (np.float32(3e38), 0)


def test_scale_grows_and_backs_off(vendor: Vendor) -> None:
    scale, tracker = (
        vendor.tensor(np.array([8.0], np.float32)),
        vendor.tensor(np.array([0], np.int32)),
    )
    clean, overflow = vendor.tensor(np.zeros(1, np.float32)), vendor.tensor(np.ones(1, np.float32))
    for want_scale, want_count, flag in (
        (8, 1, clean),
        (16, 0, clean),
        (16, 1, clean),
        (4, 0, overflow),
    ):
        vendor.op.AmpUpdateScaleInp(scale, tracker, flag, 2.0, 0.25, 2)
        assert (scale.numpy()[0], tracker.numpy()[0]) == (want_scale, want_count)
