"""How near a step comes to deciding otherwise: at a ReLU, or in a maximum pooling.

Such a decision sends a gradient one way or the other. A value that a rounding carries over the
threshold changes the gradient by far more than a rounding, on any device, and no tolerance can
say by how much. A step that is to be compared has to keep away from its thresholds.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch.nn import functional
from torch.utils._python_dispatch import TorchDispatchMode

from .one_step import Step


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
    """How far the first in each window is ahead of the second, ties left out.

    Which of two equal values wins makes no difference: zeros come from a ReLU, which lets no
    gradient through there, others from equal patches of an image.
    """
    stride, padding = stride or window, padding or [0]
    sides = (padding[-1], padding[-1], padding[0], padding[0])
    padded = functional.pad(values, sides, value=-torch.finfo(values.dtype).max)
    cells = padded.unfold(2, window[0], stride[0]).unfold(3, window[-1], stride[-1])
    first, second = cells.flatten(start_dim=-2).topk(2).values.unbind(-1)
    return (first - second)[first > second]


def margin(step: Step) -> float:
    """The smallest distance from a threshold in the float64 run of ``step``.

    In units of the root mean square of what is compared; inf where nothing is decided.
    """
    with _Margins() as margins:
        step.run(dtype=torch.float64)
    return margins.smallest
