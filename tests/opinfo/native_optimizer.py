"""Cases of optimizer steps and gradient scaling, for the tables in native.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from .direct_cases import FLOATING, DirectCase

Step = Callable[..., None]


def _adam(step: Step) -> Callable[..., Any]:
    """Return two steps on two parameters, with all options of the operator and with none."""

    def run(*tensors: torch.Tensor, decay: float, amsgrad: bool, maximize: bool) -> Any:
        lists = [[tensor.clone(), tensor.neg()] for tensor in tensors]
        for average in lists[3:]:
            average[1].abs_()
        steps = [torch.full((), count, device=tensors[0].device) for count in (1.0, 7.0)]
        step(
            *lists[:4],
            lists[4] if amsgrad else [],
            steps,
            lr=0.05,
            beta1=0.9,
            beta2=0.99,
            weight_decay=decay,
            eps=1e-3,
            amsgrad=amsgrad,
            maximize=maximize,
        )
        return lists

    return lambda *tensors: [
        run(*tensors, decay=0.0, amsgrad=False, maximize=False),
        run(*tensors, decay=0.1, amsgrad=True, maximize=True),
    ]


def _sgd(*tensors: torch.Tensor) -> Any:
    results = []
    for momentum, decay, nesterov, maximize, first in (
        (0.0, 0.0, False, False, False),
        (0.0, 0.1, False, True, False),
        (0.9, 0.0, False, False, True),
        (0.9, 0.1, True, True, False),
    ):
        lists = [[tensor.clone(), tensor.neg()] for tensor in tensors]
        torch._fused_sgd_(
            *lists[:2],
            lists[2] if momentum else [],
            weight_decay=decay,
            momentum=momentum,
            lr=0.05,
            dampening=0.0 if nesterov else 0.25,
            nesterov=nesterov,
            maximize=maximize,
            is_first_step=first,
        )
        results.append(lists)
    return results


def _unscale(x: torch.Tensor, y: torch.Tensor) -> Any:
    gradients = [x.clone(), y.clone()]
    found, scale = (torch.full((), value, device=x.device) for value in (0.0, 0.125))
    torch._amp_foreach_non_finite_check_and_unscale_(gradients, found, scale)
    return gradients, found


def _update(x: torch.Tensor, found: float) -> torch.Tensor:
    scale = torch.full((), 1024.0, device=x.device)
    tracker = torch.full((), 1, dtype=torch.int32, device=x.device)
    flag = torch.full((), found, device=x.device)
    torch._amp_update_scale_(scale, tracker, flag, 2.0, 0.5, 2)
    return torch.stack([scale, tracker.to(scale.dtype)])


CASES = {
    "_amp_foreach_non_finite_check_and_unscale_": DirectCase(
        "unscale", _unscale, FLOATING, operands=2
    ),
    "_amp_update_scale_": DirectCase("update_scale", _update, FLOATING, numbers=((0.0,), (1.0,))),
    "_fused_adam_": DirectCase("adam", _adam(torch._fused_adam_), FLOATING, operands=5),
    "_fused_adamw_": DirectCase("adamw", _adam(torch._fused_adamw_), FLOATING, operands=5),
    "_fused_sgd_": DirectCase("sgd", _sgd, FLOATING, operands=3),
}
