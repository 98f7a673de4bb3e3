"""Conversion of constant host scalars to scalars of the device.

In type promotion, a zero-dimensional host tensor counts the same as a zero-dimensional device
tensor. Vendors have operators for device tensors, so they can compute ``torch.tensor(2.0) - x``,
for example.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor
from torch.fx import Node

from dl_dicp.recording.memory import Ref
from dl_dicp.recording.scalars import is_number
from dl_dicp.recording.trace import Opaque


def scalars_on_device(
    node: Node, values: Mapping[Node, Any], refs: Mapping[Node, Any], device: torch.device
) -> dict[Node, Tensor]:
    """Return device copies of the host scalars among an operator's arguments, by node.

    The result is empty if the operator is not elementwise or writes to an argument. It is also
    empty without an argument on the device, because the location of a scalar then matters.
    """
    tags = getattr(node.target, "tags", ())
    schema = getattr(node.target, "_schema", None)
    if schema is None or schema.is_mutable or torch.Tag.pointwise not in tags:
        return {}
    given = node.all_input_nodes
    on_device = [values[x] for x in given if isinstance(refs[x], Ref)]
    on_device.sort(key=lambda x: x.dim() == 0)  # tensors with dimensions determine the dtype
    if not on_device:
        return {}
    return {
        x: values[x].to(device, _dtype(values[x], on_device))
        for x in given
        if _is_constant(refs[x]) and is_number(values[x])
    }


def _dtype(number: Tensor, others: list[Tensor]) -> torch.dtype:
    """Return the dtype of a scalar on the device. An integer next to floats becomes a float,
    because vendors expect equal dtypes. A boolean may be a mask and stays boolean."""
    floats = [x.dtype for x in others if x.is_floating_point()]
    own = number.is_floating_point() or number.dtype == torch.bool or not floats
    return number.dtype if own else floats[0]


def _is_constant(ref: Any) -> bool:
    return isinstance(ref, Opaque) and ref.slot < 0
