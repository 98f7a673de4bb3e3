"""Comparison of a new program with an eager run on the same arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import torch
from torch.fx import GraphModule, Node

from dl_dicp.errors import NotCompiledError
from dl_dicp.recording.memory import is_plain, span

STEPS = 64
"""Allowed difference between two runs of an operator, in rounding steps of the largest element: a
vendor may sum in a different order in each run."""


class Checkable(Protocol):
    """Interface of programs whose results can be compared with those of an eager run."""

    @property
    def unread(self) -> set[int]:
        """Return the indices of results that are not read."""

    def doubtful(self) -> set[int]:
        """Return the arguments that calls may write to although torch's graph does not."""

    def execute(self, arguments: list[Any], sizes: tuple[int, ...] = ()) -> list[Any]:
        """Run the program without counting the run."""


def find_written_arguments(module: GraphModule) -> set[int] | None:
    """Return the indices of the arguments that the graph writes to, or None if its nodes do not
    show that."""
    places = {
        node: place
        for place, node in enumerate(n for n in module.graph.nodes if n.op == "placeholder")
    }
    out: set[int] = set()
    for node in module.graph.nodes:
        schema = getattr(node.target, "_schema", None)
        if schema is None or not schema.is_mutable:
            continue
        for argument, given in zip(schema.arguments, node.args, strict=False):
            if argument.alias_info is None or not argument.alias_info.is_write:
                continue
            if not isinstance(given, Node) or given not in places:
                return None
            out.add(places[given])
    return out


def replica(tensor: torch.Tensor) -> torch.Tensor:
    """Return a copy with the strides and the storage offset of a tensor."""
    offset = tensor.storage_offset()
    length = offset + span(tensor.shape, tensor.stride())
    memory = torch.empty(length, dtype=tensor.dtype, device=tensor.device)
    dense = memory.as_strided((length - offset,), (1,), offset)
    dense.copy_(tensor.as_strided((length - offset,), (1,), offset))
    return memory.as_strided(tensor.shape, tensor.stride(), offset)


def copy_written(arguments: Sequence[Any], written: set[int], device: torch.device) -> list[Any]:
    """Return the arguments, with copies of those that are written to. Host tensors may be written,
    too, such as the step counter of an optimizer."""
    return [
        value
        if place not in written or not isinstance(value, torch.Tensor)
        else replica(value)
        if is_plain(value, device)
        else value.clone()
        for place, value in enumerate(arguments)
    ]


def check(
    program: Checkable,
    arguments: list[Any],
    wanted: Sequence[Any],
    sizes: tuple[int, ...] = (),
) -> None:
    """Run a program, and compare its results and its mutated arguments.

    :param arguments: arguments of the eager run, as they were before it; the program writes to
        them.
    :param wanted: results of the eager run, followed by its arguments after the run.
    :param sizes: sizes of the program's symbols.
    :raises NotCompiledError: a value differs, or an operator failed.
    """
    tried = list(arguments)
    for place in program.doubtful():
        tried[place] = replica(tried[place])
    try:
        given = [*program.execute(list(tried), sizes), *tried]
    except Exception as error:  # in any case, the caller gets the correct eager results
        raise NotCompiledError(f"its trial run failed: {error}") from error
    for place, (a, b) in enumerate(zip(given, wanted, strict=True)):
        if place not in program.unread and not agree(a, b):
            raise NotCompiledError(f"value {place} differs from that of the eager run")


def agree(a: Any, b: Any) -> bool:
    """Return True if two tensors agree up to rounding, as after summation in another order, or if
    two other values are equal."""
    if a is b or not isinstance(a, torch.Tensor):
        return not isinstance(a, int) or a == b
    if a.layout != torch.strided or b.layout != torch.strided:
        return False
    if a.shape != b.shape or a.dtype != b.dtype or a.stride() != b.stride():
        return False
    one, other = a.detach().cpu(), b.detach().cpu()
    if one.dtype == torch.complex32:  # torch does not compare these dtypes
        one, other = torch.view_as_real(one), torch.view_as_real(other)
    if torch.equal(one, other) or not one.numel():
        return True
    if not (one.is_floating_point() or one.is_complex()):
        return False
    return torch.allclose(one, other, rtol=0, atol=slack(other, one.dtype), equal_nan=True)


def slack(wanted: torch.Tensor, dtype: torch.dtype, steps: float = STEPS) -> float:
    """Return the tolerance for results, given ``wanted`` in a possibly wider dtype.

    :param dtype: dtype in which the results were computed.
    """
    finite = wanted[torch.isfinite(wanted)]
    largest = float(finite.abs().max()) if finite.numel() else 0.0
    return steps * torch.finfo(dtype).eps * largest


def overlapping(arguments: Sequence[Any], device: torch.device) -> set[int]:
    """Return the indices of arguments that share memory with another argument."""
    ranges = sorted(
        (a.data_ptr(), a.data_ptr() + span(a.shape, a.stride()) * a.element_size(), place)
        for place, a in enumerate(arguments)
        if is_plain(a, device) and a.numel()
    )
    out: set[int] = set()
    reach, owner = 0, -1
    for first, last, place in ranges:
        if first < reach:
            out |= {owner, place}
        if last > reach:
            reach, owner = last, place
    return out
