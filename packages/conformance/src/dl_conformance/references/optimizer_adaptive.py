"""Steps of adaptive optimizers.

Sources: Kingma and Ba, Adam, 2015; Loshchilov and Hutter, Decoupled weight decay regularization,
2019; Reddi et al., On the convergence of Adam and beyond, 2018 (amsgrad); Zeiler, ADADELTA, 2012;
Hinton, lecture 6e of Neural networks for machine learning, 2012 (RMSprop).

Lengths count the roundings on the longest path to an element.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.reference import Array, Expected, reference

MEAN = 5
"""First moment: weight decay and its sum, two scaled terms and their sum."""
SQUARE = 8
"""Second moment: squaring doubles the roundings of the gradient; then square, two scaled terms,
sum."""
STEP = 22
"""Update: half of the roundings of the second moment; root, bias correction (power, difference,
root, quotient), eps; first moment with its correction (3), quotient, product, difference."""


def _rounded(length: int, value: Array, size: Array) -> Expected:
    return Expected(value, length, size, op_class="reduction")


def _single(*numbers: float) -> list[Any]:
    """Return scalars that the contract passes as float32."""
    return [np.longdouble(np.float32(x)) for x in numbers]


def _adam(
    tensors: tuple[Array, Array, Array, Array, Any],
    numbers: list[Any],
    step: float,
    amsgrad: bool,
    coupled: bool,
) -> dict[str, Expected]:
    param, grad, mean, square, largest = tensors
    lr, beta1, beta2, eps, decay = numbers
    sizes = np.abs(grad)
    if coupled:
        grad, sizes = grad + decay * param, sizes + np.abs(decay * param)
    start = param if coupled else param * (1 - lr * decay)
    m = beta1 * mean + (1 - beta1) * grad
    m_size = np.abs(beta1 * mean) + (1 - beta1) * sizes
    v = beta2 * square + (1 - beta2) * grad * grad
    v_size = beta2 * square + (1 - beta2) * sizes * sizes
    top = np.maximum(largest, v) if amsgrad else v
    root = np.sqrt(top) / np.sqrt(1 - beta2**step) + eps
    rate = lr / (1 - beta1**step)
    # The relative error of a root is half of that of its argument.
    spread = m_size * (1 + v_size / top)
    found = {
        "param": _rounded(STEP, start - rate * m / root, np.abs(param) + rate * spread / root),
        "exp_avg": _rounded(MEAN, m, m_size),
        "exp_avg_sq": _rounded(SQUARE, v, v_size),
    }
    if largest is not None:
        found["max_exp_avg_sq"] = (
            _rounded(SQUARE, top, np.maximum(largest, v_size))
            if amsgrad
            else Expected(largest, op_class="exact")
        )
    return found


def _declare(name: str, coupled: bool) -> None:
    @reference(name)
    def step_of(
        *,
        param: Array,
        grad: Array,
        exp_avg: Array,
        exp_avg_sq: Array,
        max_exp_avg_sq: Any,
        lr: float,
        beta1: float,
        beta2: float,
        eps: float,
        weight_decay: float,
        step: int,
        amsgrad: bool,
    ) -> dict[str, Any]:
        tensors = (param, grad, exp_avg, exp_avg_sq, max_exp_avg_sq)
        numbers = _single(lr, beta1, beta2, eps, weight_decay)
        return dict(_adam(tensors, numbers, step, amsgrad, coupled))


_declare("diopiAdam", True)
_declare("diopiAdamW", False)


@reference("diopiFusedAdamW")
def fused_adamw(
    *,
    params: list[Array],
    grads: list[Array],
    exp_avgs: list[Array],
    exp_avg_sqs: list[Array],
    max_exp_avg_sqs: Any,
    state_steps: list[Array],
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
    weight_decay: float,
    amsgrad: bool,
    maximize: bool,
) -> dict[str, Any]:
    numbers = [np.longdouble(x) for x in (lr, beta1, beta2, eps, weight_decay)]
    tops = max_exp_avg_sqs or [None] * len(params)
    along = [-g for g in grads] if maximize else grads
    each = zip(params, along, exp_avgs, exp_avg_sqs, tops, strict=True)
    steps = [float(x.reshape(-1)[0]) for x in state_steps]
    found = [_adam(x, numbers, s, amsgrad, False) for x, s in zip(each, steps, strict=True)]
    names = {
        "params": "param",
        "exp_avgs": "exp_avg",
        "exp_avg_sqs": "exp_avg_sq",
        **({"max_exp_avg_sqs": "max_exp_avg_sq"} if max_exp_avg_sqs else {}),
    }
    return {many: [x[one] for x in found] for many, one in names.items()}


@reference("diopiAdadelta")
def adadelta(
    *,
    param: Array,
    grad: Array,
    square_avg: Array,
    acc_delta: Array,
    lr: float,
    rho: float,
    eps: float,
    weight_decay: float,
) -> dict[str, Any]:
    rate, rho, eps, decay = _single(lr, rho, eps, weight_decay)
    along, sizes = grad + decay * param, np.abs(grad) + np.abs(decay * param)
    square = rho * square_avg + (1 - rho) * along * along
    square_size = rho * square_avg + (1 - rho) * sizes * sizes
    scale = np.sqrt(acc_delta + eps) / np.sqrt(square + eps)
    step, step_size = scale * along, scale * sizes * (1 + square_size / (square + eps))
    delta = rho * acc_delta + (1 - rho) * step * step
    # A step: roundings of the gradient, half of the square's, two roots of sums, two products.
    taken = 2 + SQUARE // 2 + 6
    return {
        "param": _rounded(taken + 2, param - rate * step, np.abs(param) + rate * step_size),
        "square_avg": _rounded(SQUARE, square, square_size),
        "acc_delta": _rounded(
            2 * taken + 4, delta, rho * acc_delta + (1 - rho) * step_size * step_size
        ),
    }


@reference("diopiRmsprop")
def rmsprop(
    *,
    param: Array,
    grad: Array,
    square_avg: Array,
    grad_avg: Any,
    momentum_buf: Any,
    lr: float,
    alpha: float,
    eps: float,
    weight_decay: float,
    momentum: float,
    centered: bool,
) -> dict[str, Any]:
    rate, alpha, eps, decay, speed = _single(lr, alpha, eps, weight_decay, momentum)
    along, sizes = grad + decay * param, np.abs(grad) + np.abs(decay * param)
    square = alpha * square_avg + (1 - alpha) * along * along
    square_size = alpha * square_avg + (1 - alpha) * sizes * sizes
    found: dict[str, Any] = {
        "square_avg": _rounded(SQUARE, square, square_size),
    }
    spread, spread_size = square, square_size
    if centered:
        mean = alpha * grad_avg + (1 - alpha) * along
        mean_size = np.abs(alpha * grad_avg) + (1 - alpha) * sizes
        found["grad_avg"] = _rounded(MEAN, mean, mean_size)
        spread, spread_size = square - mean * mean, square_size + 2 * mean_size * mean_size
    elif grad_avg is not None:
        found["grad_avg"] = Expected(grad_avg, op_class="exact")
    root = np.sqrt(spread) + eps
    step, step_size = along / root, sizes / root * (1 + spread_size / spread)
    # Roundings of the gradient, half of those of both second moments, root, eps and quotient.
    taken = 2 + SQUARE // 2 + MEAN + 1 + 3
    if momentum > 0:
        step, step_size = speed * momentum_buf + step, np.abs(speed * momentum_buf) + step_size
        found["momentum_buf"] = _rounded(taken + 2, step, step_size)
    elif momentum_buf is not None:
        found["momentum_buf"] = Expected(momentum_buf, op_class="exact")
    total = np.abs(param) + rate * step_size
    found["param"] = _rounded(taken + 4, param - rate * step, total)
    return found
