"""Tests of softmax, log-softmax and their gradients."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from diopi_proto.tolerance import OpClass
from support import FLOATS, LAYOUTS, Array, check, numbers, out_like, place, terms


def softmax(x: Array, dim: int) -> Array:
    e = np.exp(x - x.max(axis=dim, keepdims=True))
    return e / e.sum(axis=dim, keepdims=True)


@pytest.mark.parametrize("n", [5, 64, 100, 300])
def test_masked_and_distant_scores_vanish(vendor: Vendor, n: int) -> None:
    x = np.zeros((3, n), np.float32)
    x[0, 1:] = -np.inf
    x[1, 1:] = np.linspace(-86, -200, n - 1)
    x[2, n // 2] = np.nan
    out = out_like(vendor, x.shape, "float32")
    vendor.op.Softmax(out, vendor.tensor(x), 1)
    want = softmax(x[:2].astype(np.float64), 1)
    assert np.allclose(out.numpy()[:2], want, rtol=1e-6, atol=2e-38)
    assert np.isnan(out.numpy()[2]).all()
    vendor.op.LogSoftmax(out, vendor.tensor(x), 1)
    assert np.array_equal(out.numpy()[:2], x[:2])
    assert np.isnan(out.numpy()[2]).all()


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dim", [0, 1, -1])
@pytest.mark.parametrize("dtype", FLOATS)
def test_softmax_and_its_gradient(vendor: Vendor, dtype: str, dim: int, layout: str) -> None:
    shape = (4, 7, 130)
    a, x = place(vendor, numbers(shape, dtype, 81, -5, 5), dtype, layout)
    g, grad = place(vendor, numbers(shape, dtype, 82), dtype, layout)
    out = out_like(vendor, shape, dtype, layout)
    count = shape[dim]
    y = softmax(x, dim)
    vendor.op.Softmax(out, a, dim)
    check(out, y, OpClass.REDUCTION, "Softmax", **terms(count, y))
    vendor.op.LogSoftmax(out, a, dim)
    check(out, np.log(y), OpClass.REDUCTION, "LogSoftmax", **terms(count, np.abs(np.log(y)) + 10))

    p, probabilities = place(vendor, y.astype(np.float64), dtype, layout)
    dot = (grad * probabilities).sum(axis=dim, keepdims=True)
    size = (np.abs(grad * probabilities)).sum(axis=dim, keepdims=True)
    vendor.op.SoftmaxBackward(out, g, p, dim)
    want = (grad - dot) * probabilities
    check(
        out,
        want,
        OpClass.REDUCTION,
        "SoftmaxBackward",
        **terms(count, (np.abs(grad) + size) * probabilities),
    )

    logs, values = place(vendor, np.log(y).astype(np.float64), dtype, layout)
    total = grad.sum(axis=dim, keepdims=True)
    size = np.abs(grad).sum(axis=dim, keepdims=True)
    vendor.op.LogSoftmaxBackward(out, g, logs, dim)
    want = grad - np.exp(values) * total
    check(
        out,
        want,
        OpClass.REDUCTION,
        "LogSoftmaxBackward",
        **terms(count, np.abs(grad) + np.exp(values) * size),
    )


@pytest.mark.parametrize("shape", [(0, 4), (4, 0), ()], ids=str)
def test_softmax_of_small_shapes(vendor: Vendor, shape: tuple[int, ...]) -> None:
    out = out_like(vendor, shape, "float32")
    vendor.op.Softmax(out, place(vendor, numbers(shape, "float32", 83), "float32")[0], 0)
    assert np.array_equal(out.numpy(), np.ones(shape))


def test_softmax_survives_large_inputs_and_works_in_place(vendor: Vendor) -> None:
    a = vendor.tensor(np.array([[1e4, 1e4 - 1], [-1e4, 1e4]], np.float32))
    vendor.op.Softmax(a, a, 1)
    assert np.allclose(a.numpy(), [[0.7310586, 0.26894143], [0, 1]], atol=1e-7)


def test_softmax_names_a_bad_dim(vendor: Vendor) -> None:
    a = out_like(vendor, (2, 3), "float32")
    message = r"\[diopiSoftmax\] dim 3 is out of range for a tensor with 2 dimensions"
    with pytest.raises(OperatorError, match=message):
        vendor.op.Softmax(a, a, 3)


def test_softmax_of_many_rows(vendor: Vendor) -> None:
    a, x = place(vendor, numbers((500, 1030), "float32", 84, -5, 5), "float32")
    out = out_like(vendor, (500, 1030), "float32")
    vendor.op.Softmax(out, a, -1)
    y = softmax(x, -1)
    check(out, y, OpClass.REDUCTION, "Softmax", **terms(1030, y))


def test_softmax_in_the_type_of_a_wider_output(vendor: Vendor) -> None:
    for dtype in ("float16", "bfloat16"):
        a, x = place(vendor, numbers((5, 70), dtype, 71), dtype)
        out = out_like(vendor, (5, 70), "float32")
        vendor.op.Softmax(out, a, 1)
        y = softmax(x, 1)
        check(out, y, OpClass.REDUCTION, "Softmax", **terms(70, y))
