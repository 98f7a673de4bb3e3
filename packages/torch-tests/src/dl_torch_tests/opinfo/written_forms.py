"""The forms of an operator that write to the caller's tensors: out= and in place.

The target is one more argument, and the memory around it one more result, so that a kernel that
writes outside its target, or returns another tensor, is detected like a wrong value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.utils._pytree import tree_flatten, tree_map

from .operators import DENSE_TARGETS_ONLY, Judgement, full_name
from .relocate import Relocation
from .sweep import Arguments, Report, compare_calls, is_random, run, samples_of

NEIGHBOUR = 7
"""Value of the elements around a target."""

Target = tuple[torch.Tensor, torch.Tensor]
"""A target, and all of its memory."""


def exact_target(like: torch.Tensor) -> Target:
    """Return a contiguous target of the right shape."""
    target = torch.full(like.shape, NEIGHBOUR, dtype=like.dtype)
    return target, target


def empty_target(like: torch.Tensor) -> Target:
    """Return a target that has to be resized."""
    target = torch.empty(0, dtype=like.dtype)
    return target, target


def transposed_target(like: torch.Tensor) -> Target:
    """Return a target of the right shape, with the memory order of dimensions reversed."""
    target = torch.full(tuple(reversed(like.shape)), NEIGHBOUR, dtype=like.dtype)
    target = target.permute(tuple(reversed(range(like.dim()))))
    return target, target


def window_target(like: torch.Tensor) -> Target:
    """Return a target of every second element of the last dimension, in a larger buffer."""
    shape = [size + 2 for size in like.shape]
    if not shape:
        buffer = torch.full((3,), NEIGHBOUR, dtype=like.dtype)
        return buffer[1], buffer
    shape[-1] = 2 * like.shape[-1] + 3
    buffer = torch.full(shape, NEIGHBOUR, dtype=like.dtype)
    target = buffer
    for dim, size in enumerate(like.shape):
        step = 2 if dim == like.dim() - 1 else 1
        target = target.narrow(dim, 1, size * step)
    return target[..., ::2], buffer


TARGETS: dict[str, Callable[[torch.Tensor], Target]] = {
    "exact": exact_target,
    "empty": empty_target,
    "transposed": transposed_target,
    "window": window_target,
}


STRIDED = ("transposed", "window")


def check_out(op: Any, dtype: torch.dtype, device: str, limit: int | None = None) -> Report:
    """Check ``op(..., out=target)`` for the samples and every kind of target."""
    report = Report(f"{full_name(op)} {dtype} out=")
    judgement = Judgement.of(op)

    def plain(arguments: Arguments) -> Any:
        first, args, kwargs = arguments
        return op(first, *args, **kwargs)

    def call(arguments: Arguments) -> Any:
        first, args, kwargs = arguments
        wanted = {k: v for k, v in kwargs.items() if k != "whole"}
        result = op(first, *args, **wanted)
        pairs = zip(tree_flatten(result)[0], tree_flatten(kwargs["out"])[0], strict=True)
        return result, kwargs["whole"], [got is want for got, want in pairs]

    for at, original in enumerate(samples_of(op, dtype, limit)):
        expected = run(plain, Relocation()(original))
        if expected.error is not None or not _are_tensors(expected.leaves()):
            continue
        if not judgement.uninitialised and is_random(plain, original, expected):
            continue
        for kind, make in TARGETS.items():
            if kind in STRIDED and op.name in DENSE_TARGETS_ONLY:
                continue
            first, args, kwargs = original
            made = [make(leaf) for leaf in expected.leaves()]
            targets = iter([target for target, _ in made])
            out = tree_map(lambda _, targets=targets: next(targets), expected.result)
            written = (first, args, {**kwargs, "out": out, "whole": [whole for _, whole in made]})
            problem, refused = compare_calls(call, written, judgement, device)
            report.samples += 1
            report.refused += refused
            report.add(at, written, problem and f"{kind} target: {problem}")
    return report


def _are_tensors(leaves: list[Any]) -> bool:
    return bool(leaves) and all(
        isinstance(leaf, torch.Tensor) and leaf.layout == torch.strided for leaf in leaves
    )


def check_in_place(op: Any, dtype: torch.dtype, device: str, limit: int | None = None) -> Report:
    """Check the in-place variant on the sample's own tensor, and on a view of a larger one."""
    report = Report(f"{full_name(op)} {dtype} in place")
    judgement = Judgement.of(op)

    def call(arguments: Arguments) -> Any:
        first, args, kwargs = arguments
        wanted = {k: v for k, v in kwargs.items() if k != "whole"}
        result = op.inplace_variant(first, *args, **wanted)
        return result, kwargs["whole"], result is first

    for at, original in enumerate(samples_of(op, dtype, limit)):
        for kind, arguments in _in_place_arguments(original):
            problem, refused = compare_calls(call, arguments, judgement, device)
            report.samples += 1
            report.refused += refused
            report.add(at, arguments, problem and f"{kind}: {problem}")
    return report


def _in_place_arguments(original: Arguments) -> Iterator[tuple[str, Arguments]]:
    first, args, kwargs = original
    if not isinstance(first, torch.Tensor) or first.layout != torch.strided:
        return
    yield "itself", (first, args, {**kwargs, "whole": first})
    if not torch._debug_has_internal_overlap(first):
        target, buffer = window_target(first)
        target.copy_(first)
        yield "window", (target, args, {**kwargs, "whole": buffer})
