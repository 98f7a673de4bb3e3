"""Distance of a training step from the thresholds of its ReLUs and max poolings.

Each threshold decides which elements get a gradient. If rounding moves a value over it, the
gradient changes by far more than a rounding error, on any device, and no tolerance bounds the
change. A step that is compared between devices must therefore stay away from its thresholds.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch.nn import functional
from torch.utils._python_dispatch import TorchDispatchMode

from dl_torch_tests.models.one_step import Step


class _Margins(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.smallest = math.inf

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        if func in (torch.ops.aten.relu.default, torch.ops.aten.relu_.default):
            self._note(args[0].abs(), args[0])
        elif func is torch.ops.aten.max_pool2d_with_indices.default:
            self._note(_leads(*args), args[0])
        return func(*args, **(kwargs or {}))

    def _note(self, margins: torch.Tensor, values: torch.Tensor) -> None:
        if margins.numel():
            size = values.square().mean().sqrt()
            self.smallest = min(self.smallest, float(margins.min() / size))


def _leads(
    values: torch.Tensor,
    window: list[int],
    stride: list[int] | None = None,
    padding: list[int] | None = None,
) -> torch.Tensor:
    """Return the difference of the largest and second largest value of each window, without ties.

    The choice between equal values does not matter: zeros come from a ReLU, whose gradient is zero
    there, and other equal values from equal patches of an image.
    """
    stride, padding = stride or window, padding or [0]
    sides = (padding[-1], padding[-1], padding[0], padding[0])
    padded = functional.pad(values, sides, value=-torch.finfo(values.dtype).max)
    cells = padded.unfold(2, window[0], stride[0]).unfold(3, window[-1], stride[-1])
    first, second = cells.flatten(start_dim=-2).topk(2).values.unbind(-1)
    return (first - second)[first > second]


def margin(step: Step) -> float:
    """Return the smallest distance from a threshold in the float64 run of ``step``.

    The unit is the root mean square of the compared values; inf without any threshold.
    """
    with _Margins() as margins:
        step.run(dtype=torch.float64)
    return margins.smallest
