"""The logarithm of the sigmoid, its buffer and its gradient."""

from __future__ import annotations

import numpy as np
import pytest

from activations import SPECIAL, softplus
from diopi_proto import OperatorError, Vendor
from diopi_proto.tolerance import OpClass
from support import FLOATS, LAYOUTS, check, numbers, out_like, place


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(3, 41), (300, 211), (0,), ()])
def test_log_sigmoid_its_buffer_and_its_gradient(
    vendor: Vendor, shape: tuple[int, ...], dtype: str, layout: str
) -> None:
    x, values = place(vendor, numbers(shape, dtype, 76, -9, 9), dtype, layout)
    out, buffer = out_like(vendor, shape, dtype, layout), out_like(vendor, shape, dtype)
    vendor.op.dlopLogSigmoid(out, buffer, x)
    check(out, -softplus(-values), OpClass.ELEMENTARY, "LogSigmoid")
    check(buffer, np.exp(-np.abs(values)), OpClass.ELEMENTARY, "LogSigmoid's buffer")
    e, kept = place(vendor, np.exp(-np.abs(values)), dtype, layout)
    g, grad = place(vendor, numbers(shape, dtype, 80), dtype)
    vendor.op.dlopLogSigmoidBackward(out, g, x, e)
    want = grad * np.where(values < 0, 1, kept) / (1 + kept)
    check(out, want, OpClass.ELEMENTARY, "LogSigmoidBackward")


def test_log_sigmoid_needs_tensors_of_one_shape(vendor: Vendor) -> None:
    x, y = out_like(vendor, (2,), "float32"), out_like(vendor, (3,), "float32")
    with pytest.raises(OperatorError, match="different shapes"):
        vendor.op.dlopLogSigmoid(x, y, x)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_log_sigmoid_of_special_numbers(vendor: Vendor, dtype: str) -> None:
    out, buffer = (out_like(vendor, SPECIAL.shape, dtype) for _ in range(2))
    vendor.op.dlopLogSigmoid(out, buffer, place(vendor, SPECIAL, dtype)[0])
    log2 = np.log(2.0)
    want = [np.nan, 0.0, -np.inf, -log2, -log2, 0.0, -1e30]
    assert np.allclose(out.numpy(), want, rtol=1e-6, atol=0, equal_nan=True)
    want = [np.nan, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0]
    assert np.allclose(buffer.numpy(), want, rtol=0, atol=0, equal_nan=True)
    gradient = place(vendor, np.full(SPECIAL.shape, 2.0), dtype)[0]
    vendor.op.dlopLogSigmoidBackward(out, gradient, place(vendor, SPECIAL, dtype)[0], buffer)
    want = [np.nan, 0.0, 2.0, 1.0, 1.0, 0.0, 2.0]
    assert np.allclose(out.numpy(), want, rtol=1e-6, atol=0, equal_nan=True)
