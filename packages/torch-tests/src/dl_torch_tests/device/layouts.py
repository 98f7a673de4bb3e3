"""The same values in another layout: arguments that a kernel must not treat as contiguous."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils._pytree import tree_map

from diopi_proto.tolerance.torch_operators.comparison import same_values

from ..opinfo.operators import Judgement, full_name
from ..opinfo.relocate import Relocation
from ..opinfo.sweep import Arguments, Call, Report, compare_calls, run, samples_of, tensors_of
from .case import SAMPLES


def transposed(tensor: torch.Tensor) -> torch.Tensor:
    """Reverse the memory order of the dimensions."""
    order = tuple(reversed(range(tensor.dim())))
    return tensor.permute(order).clone(memory_format=torch.contiguous_format).permute(order)


def sliced(tensor: torch.Tensor) -> torch.Tensor:
    """Use every second element of the last dimension, beginning with the second one."""
    if tensor.dim() == 0:
        return torch.stack([tensor, tensor])[1]
    buffer = torch.stack([tensor, tensor], -1).flatten(-2)
    return buffer[..., 1::2]


def expanded(tensor: torch.Tensor) -> torch.Tensor:
    """Repeat the first entry of the first dimension with stride 0."""
    if tensor.dim() == 0 or tensor.numel() == 0:
        return tensor
    return tensor[:1].clone().expand(tensor.shape)


LAYOUTS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "transposed": transposed,
    "sliced": sliced,
    "expanded": expanded,
}


def without_elements(tensor: torch.Tensor) -> torch.Tensor:
    """Return the tensor with no entries along the first dimension."""
    return tensor[:0] if tensor.dim() else tensor


def without_dimensions(tensor: torch.Tensor) -> torch.Tensor:
    """Return only the first element, without dimensions."""
    return tensor.flatten()[0].clone() if tensor.numel() else tensor


SIZES: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "no elements": without_elements,
    "no dimensions": without_dimensions,
}


def changed(arguments: Arguments, change: Callable[[torch.Tensor], torch.Tensor]) -> Arguments:
    """Change every tensor among the arguments; gradients are computed for the changed ones."""

    def one(value: Any) -> Any:
        if not isinstance(value, torch.Tensor) or value.layout != torch.strided:
            return value
        return change(value.detach()).requires_grad_(value.requires_grad)

    first, args, kwargs = tree_map(one, arguments)
    return first, args, kwargs


def plain(op: Any) -> Call:
    """Return the operator as a function of the three parts of its arguments."""

    def call(arguments: Arguments) -> Any:
        first, args, kwargs = arguments
        return op(first, *args, **kwargs)

    return call


def writes(call: Call, arguments: Arguments) -> bool:
    """Return True if the CPU changes an argument, which must not be an expanded tensor then."""
    outcome = run(call, Relocation()(arguments))
    before, after = tensors_of(arguments), tensors_of(outcome.arguments)
    return any(
        not same_values(old, new)
        for old, new in zip(before, after, strict=True)
        if old.layout == torch.strided
    )


def check_layouts(op: Any, dtype: torch.dtype, device: str) -> Report:
    """Check samples of an operator in every layout."""
    return _check_changed(op, dtype, device, LAYOUTS)


def check_sizes(op: Any, dtype: torch.dtype, device: str) -> Report:
    """Check samples of an operator with empty tensors."""
    return _check_changed(op, dtype, device, SIZES)


def _check_changed(
    op: Any,
    dtype: torch.dtype,
    device: str,
    changes: dict[str, Callable[[torch.Tensor], torch.Tensor]],
) -> Report:
    report = Report(f"{full_name(op)} {dtype}")
    call, judgement = plain(op), Judgement.of(op)
    for at, original in enumerate(samples_of(op, dtype, SAMPLES)):
        for name, change in changes.items():
            arguments = changed(original, change)
            if change is expanded and writes(call, arguments):
                continue
            problem, refused = compare_calls(call, arguments, judgement, device)
            report.samples += 1
            report.refused += refused
            report.add(at, arguments, problem and f"{name}: {problem}")
    return report
