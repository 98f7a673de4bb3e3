"""Division by norms, and the gradients of norms."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from referenced import Expected, run, slope
from support import FLOATS, LAYOUTS, Array, numbers, out_like

ORDERS = (0.0, 1.0, 2.0, 3.0, np.inf, -np.inf)


def norms(x: Array, p: float, dims: tuple[int, ...]) -> Array:
    size = np.abs(x)
    if np.isinf(p):
        return (size.max if p > 0 else size.min)(axis=dims, keepdims=True)
    if p == 0:
        return (size != 0).sum(axis=dims, keepdims=True).astype(x.dtype)
    return (size**p).sum(axis=dims, keepdims=True) ** (1 / x.dtype.type(p))


def slopes(x: Array, p: float, norm: Array, dims: tuple[int, ...]) -> Array:
    if np.isinf(p):
        most = np.abs(x) == norm
        return np.sign(x) * most / most.sum(axis=dims, keepdims=True)
    if p == 0:
        return np.zeros_like(x)
    return np.sign(x) * (np.abs(x) / norm) ** (p - 1)


def norm_backward(
    grad_output: Array, self: Array, norm: Array, dim: list[int] | None, p: float | None
) -> dict[str, Expected]:
    dims = tuple(range(self.ndim) if dim is None else dim)
    order = 2.0 if p is None else p
    kept = norms(self, 2.0, dims).shape
    found = grad_output.reshape(kept) * slopes(self, order, norm.reshape(kept), dims)
    return {"grad_input": Expected(found, 4)}


def normalize(input: Array, p: float, axis: int, eps: float) -> dict[str, Expected]:
    by = np.maximum(norms(input, p, (axis,)), eps)
    return {"output": Expected(input / by, input.shape[axis])}


def normalize_backward(
    grad_output: Array, input: Array, p: float, axis: int, eps: float
) -> dict[str, Expected]:
    norm = norms(input, p, (axis,))
    by = np.maximum(norm, eps)
    dot = (grad_output * input).sum(axis=axis, keepdims=True) / by**2
    change = np.where(norm < eps, 0, slopes(input, p, norm, (axis,)))
    size = np.abs(grad_output * input).sum(axis=axis, keepdims=True) / by**2 * np.abs(change)
    return {
        "grad_input": Expected(
            grad_output / by - change * dot, input.shape[axis], np.abs(grad_output) / by + size
        )
    }


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dim", [None, [1], [0, -1]], ids=str)
@pytest.mark.parametrize("p", [None, *ORDERS])
@pytest.mark.parametrize("dtype", FLOATS)
def test_gradient_of_a_norm(
    vendor: Vendor, dtype: str, p: float | None, dim: list[int] | None, layout: str
) -> None:
    # Elements that every dtype holds exactly, so that the largest are found again.
    x = np.random.default_rng(1).integers(1, 9, (3, 4, 5)) * [1.0, -1.0, 1.0, -1.0, 1.0]
    dims = (0, 1, 2) if dim is None else tuple(dim)
    of = norms(x, 2.0 if p is None else p, dims).squeeze(axis=dims)
    run(
        vendor, "diopiNormBackward", norm_backward, dtype, layout,
        grad_output=numbers(of.shape, dtype, 2), self=x, norm=of, dim=dim, p=p,
    )  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("p", ORDERS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_normalize(vendor: Vendor, dtype: str, p: float, axis: int, layout: str) -> None:
    x, grad = numbers((3, 4, 5), dtype, 3, 0.5, 2), numbers((3, 4, 5), dtype, 4)
    for eps in (1e-12, 100.0):
        rule = {"p": p, "axis": axis, "eps": eps}
        run(vendor, "diopiNormalize", normalize, dtype, layout, input=x, **rule)
        run(
            vendor, "diopiNormalizeBackward", normalize_backward, dtype, layout, grad_output=grad,
            input=x, **rule,
        )  # fmt: skip


@pytest.mark.parametrize("p", [1.0, 2.0, 3.0, np.inf])
def test_gradients_are_slopes(p: float) -> None:
    x, grad = numbers((3, 4), "float64", 5).astype(np.longdouble), numbers((3, 4), "float64", 6)
    want = slope(lambda v: np.sum(grad * normalize(v, p, 1, 1e-12)["output"].value), x)
    found = normalize_backward(grad, x, p, 1, 1e-12)["grad_input"].value
    assert np.allclose(found.astype(float), want.astype(float), 1e-7)


def test_norms_of_zeros_have_no_slope(vendor: Vendor) -> None:
    out, zeros = out_like(vendor, (3,), "float32"), vendor.tensor(np.zeros(3, np.float32))
    one, nothing = vendor.tensor(np.float32(1)), vendor.tensor(np.float32(0))
    for p in (1, 2, 3):
        vendor.op.NormBackward(out, one, zeros, nothing, None, p)
        assert out.numpy().tolist() == [0, 0, 0]


def test_shapes_that_do_not_fit(vendor: Vendor) -> None:
    x, wrong = out_like(vendor, (2, 3), "float32"), out_like(vendor, (4,), "float32")
    with pytest.raises(OperatorError, match=r"one element for each of the 2 norms"):
        vendor.op.NormBackward(x, wrong, x, wrong, (1,), 2)
    with pytest.raises(OperatorError, match=r"\[diopiNormalize\] dim 2 is out of range"):
        vendor.op.Normalize(x, x, 2.0, 2, 1e-12)
