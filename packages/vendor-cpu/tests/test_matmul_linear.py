"""Linear layers and their gradients."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from referenced import Expected, run, slope
from support import FLOATS, LAYOUTS, Array, numbers, out_like


def linear(input: Array, weight: Array, bias: Array | None) -> dict[str, Expected]:
    shift = np.zeros(len(weight)) if bias is None else bias
    size = np.abs(input) @ np.abs(weight.T) + np.abs(shift)
    return {"out": Expected(input @ weight.T + shift, weight.shape[1] + 1, size)}


def linear_backward(grad_output: Array, input: Array, weight: Array) -> dict[str, Expected]:
    g = grad_output.reshape(-1, grad_output.shape[-1])
    x = input.reshape(-1, input.shape[-1])
    p, y = np.abs(g), np.abs(x)
    return {
        "grad_input": Expected(
            grad_output @ weight, g.shape[1], np.abs(grad_output) @ np.abs(weight)
        ),
        "grad_weight": Expected(g.T @ x, len(g), p.T @ y),
        "grad_bias": Expected(g.sum(axis=0), len(g), p.sum(axis=0)),
    }


def matmul_all_reduce(
    x1: Array, x2: Array, bias: Array | None, group: str, reduce_op: str, comm_turn: int,
    stream_mode: int,
) -> dict[str, Expected]:  # fmt: skip
    return linear(x1, x2.T, bias)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", [(40,), (7, 40), (3, 5, 40), (0, 40)])
@pytest.mark.parametrize("dtype", FLOATS)
def test_linear(vendor: Vendor, dtype: str, shape: tuple[int, ...], layout: str) -> None:
    x, weight = numbers(shape, dtype, 1), numbers((9, 40), dtype, 2)
    bias, grad = numbers((9,), dtype, 3), numbers((*shape[:-1], 9), dtype, 4)
    for given in (bias, None):
        run(vendor, "diopiLinear", linear, dtype, layout, input=x, weight=weight, bias=given)
        run(
            vendor, "diopiMatmulAllReduce", matmul_all_reduce, dtype, layout, x1=x, x2=weight.T,
            bias=given, group="", reduce_op="sum", comm_turn=0, stream_mode=1,
        )  # fmt: skip
    run(
        vendor, "diopiLinearBackward", linear_backward, dtype, layout, grad_output=grad, input=x,
        weight=weight,
    )  # fmt: skip


def test_gradients_are_slopes() -> None:
    x, weight, bias, grad = (numbers(s, "float64", 5) for s in ((2, 3), (4, 3), (4,), (2, 4)))
    found = linear_backward(grad, x, weight)

    def loss(x: Array, weight: Array, bias: Array) -> Array:
        return np.sum(grad * linear(x, weight, bias)["out"].value)

    for name, want in (
        ("grad_input", slope(lambda v: loss(v, weight, bias), x)),
        ("grad_weight", slope(lambda v: loss(x, v, bias), weight)),
        ("grad_bias", slope(lambda v: loss(x, weight, v), bias)),
    ):
        assert np.allclose(found[name].value.astype(float), want.astype(float), 1e-9)


@pytest.mark.parametrize("wanted", range(3))
def test_gradients_that_are_not_wanted(vendor: Vendor, wanted: int) -> None:
    names = ("grad_input", "grad_weight", "grad_bias")
    absent = {name: None for i, name in enumerate(names) if i != wanted}

    def one(grad_output: Array, input: Array, weight: Array, **_: None) -> dict[str, Expected]:
        return {names[wanted]: linear_backward(grad_output, input, weight)[names[wanted]]}

    run(
        vendor, "diopiLinearBackward", one, "float32", grad_output=numbers((6, 4), "float32", 6),
        input=numbers((6, 5), "float32", 7), weight=numbers((4, 5), "float32", 8), **absent,
    )  # fmt: skip


def test_shapes_that_do_not_fit(vendor: Vendor) -> None:
    x, weight = out_like(vendor, (2, 3), "float32"), out_like(vendor, (4, 5), "float32")
    with pytest.raises(OperatorError, match=r"\[diopiLinear\] input, weight and output"):
        vendor.op.Linear(out_like(vendor, (2, 4), "float32"), x, weight, None)
    with pytest.raises(OperatorError, match=r"\[diopiMatmulAllReduce\] bias has 2 elements"):
        vendor.op.MatmulAllReduce(
            out_like(vendor, (2, 5), "float32"), out_like(vendor, (2, 4), "float32"), weight,
            out_like(vendor, (2,), "float32"), "", "sum", 0, 1,
        )  # fmt: skip
