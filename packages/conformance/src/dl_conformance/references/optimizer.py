"""Steps of optimizers."""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.reference import UNSPECIFIED, Array, Expected, reference

ONE = np.longdouble(1)


@reference("diopiSgd")
def sgd(
    *,
    param: Array,
    grad: Array,
    buf: Any,
    lr: float,
    momentum: float,
    dampening: float,
    weight_decay: float,
    nesterov: bool,
) -> dict[str, Any]:
    along = grad + ONE * weight_decay * param
    size = np.abs(grad) + ONE * weight_decay * np.abs(param)
    result: dict[str, Any] = {"grad": UNSPECIFIED}
    if momentum and buf is not None:
        average = ONE * momentum * buf + (ONE - dampening) * along
        spread = np.abs(ONE * momentum * buf) + (1 + abs(dampening)) * size
        result["buf"] = Expected(average, 8, spread, op_class="reduction")
        along = along + ONE * momentum * average if nesterov else average
        size = size + spread
    elif buf is not None:
        result["buf"] = Expected(buf, op_class="exact")
    total = np.abs(param) + lr * size
    result["param"] = Expected(param - ONE * lr * along, 8, total, op_class="reduction")
    return result
