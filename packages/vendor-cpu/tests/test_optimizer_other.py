"""Steps of Adadelta and RMSprop."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from referenced import Expected, run
from support import FLOATS, LAYOUTS, Array, Exact, numbers, out_like

ROUNDINGS = 16
"""More than a step has."""


def single(**numbers: float) -> list[Any]:
    """Numbers that the contract passes as float32."""
    return [Exact(np.float32(value)) for value in numbers.values()]


def adadelta(
    param: Array, grad: Array, square_avg: Array, acc_delta: Array, lr: float, rho: float,
    eps: float, weight_decay: float,
) -> dict[str, Expected]:  # fmt: skip
    lr, rho, eps, decay = single(lr=lr, rho=rho, eps=eps, decay=weight_decay)
    g = grad + decay * param
    size = np.abs(grad) + np.abs(decay * param)
    square = rho * square_avg + (1 - rho) * g * g
    step = np.sqrt(acc_delta + eps) / np.sqrt(square + eps) * g
    delta = rho * acc_delta + (1 - rho) * step * step
    return {
        "param": Expected(param - lr * step, ROUNDINGS, np.abs(param) + lr * np.abs(step)),
        "square_avg": Expected(square, ROUNDINGS, rho * square_avg + (1 - rho) * size * size),
        "acc_delta": Expected(delta, ROUNDINGS),
    }


def rmsprop(
    param: Array, grad: Array, square_avg: Array, grad_avg: Array | None,
    momentum_buf: Array | None, lr: float, alpha: float, eps: float, weight_decay: float,
    momentum: float, centered: bool,
) -> dict[str, Expected]:  # fmt: skip
    lr, alpha, eps, decay, speed = single(
        lr=lr, alpha=alpha, eps=eps, decay=weight_decay, speed=momentum
    )
    g = grad + decay * param
    square = alpha * square_avg + (1 - alpha) * g * g
    found = {"square_avg": Expected(square, ROUNDINGS)}
    spread = square
    if centered:
        mean = alpha * grad_avg + (1 - alpha) * g
        size = np.abs(alpha * grad_avg) + (1 - alpha) * (np.abs(grad) + np.abs(decay * param))
        found["grad_avg"] = Expected(mean, ROUNDINGS, size)
        spread = square - mean * mean
    step = g / (np.sqrt(spread) + eps)
    size = np.abs(step)
    if momentum > 0:
        size = np.abs(speed * momentum_buf) + size
        step = speed * momentum_buf + step
        found["momentum_buf"] = Expected(step, ROUNDINGS, size)
    found["param"] = Expected(param - lr * step, ROUNDINGS, np.abs(param) + lr * size)
    return found


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_adadelta(vendor: Vendor, dtype: str, layout: str) -> None:
    shape = (7, 33)
    run(
        vendor, "diopiAdadelta", adadelta, dtype, layout, param=numbers(shape, dtype, 1),
        grad=numbers(shape, dtype, 2), square_avg=numbers(shape, dtype, 3, 0.1, 1),
        acc_delta=numbers(shape, dtype, 4, 0.1, 1), lr=0.5, rho=0.9, eps=1e-6, weight_decay=0.1,
    )  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("momentum", [0.0, 0.9])
@pytest.mark.parametrize("centered", [True, False])
@pytest.mark.parametrize("dtype", FLOATS)
def test_rmsprop(vendor: Vendor, dtype: str, centered: bool, momentum: float, layout: str) -> None:
    shape = (7, 33)
    run(
        vendor, "diopiRmsprop", rmsprop, dtype, layout, param=numbers(shape, dtype, 5),
        grad=numbers(shape, dtype, 6, 0.5, 1), square_avg=numbers(shape, dtype, 7, 1, 2),
        grad_avg=numbers(shape, dtype, 8, 0.1, 0.5) if centered else None,
        momentum_buf=numbers(shape, dtype, 9) if momentum else None, lr=0.01, alpha=0.9, eps=1e-6,
        weight_decay=0.1, momentum=momentum, centered=centered,
    )  # fmt: skip


def test_states_that_are_missing(vendor: Vendor) -> None:
    x = out_like(vendor, (3,), "float32")
    with pytest.raises(OperatorError, match=r"\[diopiRmsprop\] centered needs grad_avg"):
        vendor.op.Rmsprop(x, x, x, None, None, 0.1, 0.9, 1e-6, 0, 0, True)
    with pytest.raises(OperatorError, match=r"\[diopiRmsprop\] momentum needs momentum_buf"):
        vendor.op.Rmsprop(x, x, x, None, None, 0.1, 0.9, 1e-6, 0, 0.9, False)
    wrong = out_like(vendor, (4,), "float32")
    with pytest.raises(OperatorError, match=r"\[diopiAdadelta\].* do not have one shape"):
        vendor.op.Adadelta(x, x, wrong, x, 0.1, 0.9, 1e-6, 0)
