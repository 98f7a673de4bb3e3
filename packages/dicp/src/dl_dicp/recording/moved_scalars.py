"""Conversion of constant host scalars to scalars of the device.

A tensor of the host without dimensions decides a result's dtype no more than one of the device
does, and vendors have operators for the latter: those of ``torch.tensor(2.0) - x``.
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
    """Copies of the numbers among an operator's arguments, by the node that each is in.

    Empty if it does not work element by element, writes to an argument, or has no argument of the
    device, next to which it does not matter where a number is.
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
    """Return the number's own dtype, or that of floats next to an integer: vendors want them to be
    alike. A boolean may be a mask and stays one."""
    floats = [x.dtype for x in others if x.is_floating_point()]
    own = number.is_floating_point() or number.dtype == torch.bool or not floats
    return number.dtype if own else floats[0]


def _is_constant(ref: Any) -> bool:
    return isinstance(ref, Opaque) and ref.slot < 0
