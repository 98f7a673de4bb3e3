"""Elements that the arithmetic of a dtype does not determine: no device is blamed for them.

- The CPU's own result in the same dtype is nan or infinity where the reference is finite: sums or
  products on the way exceed the dtype's range.
- The absolute values of the summands exceed the range, and the result is nan or infinity.
- The CPU has no correct digit there, and squares of the arguments leave the range: another order
  of the same operations may give nan, infinity, zero or the right value.
- Perturbing the arguments by one rounding changes the reference by more than the device's error,
  or to nan or infinity (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section
  1.5): exp of a difference of values whose last digit is above 1.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.utils._pytree import tree_map

from diopi_proto.tolerance import OpClass
from diopi_proto.tolerance.torch_operators.op_classes import Rule
from dl_optools.relocation import WIDER, Relocation
from dl_optools.tensors import tensors_of

Tree = Any
Run = Callable[[Tree], Sequence[Any]]

PATTERNS = 8
"""Perturbation patterns of all elements; each element moves in both directions among them."""
MULTIPLE = 4.0
"""Maximum number of perturbation steps by which a device's error is explained."""


def find_undetermined(
    run: Run,
    tree: Tree,
    at: int,
    got: torch.Tensor,
    want: torch.Tensor,
    peer: torch.Tensor | None,
    rule: Rule,
    sums: torch.Tensor | None = None,
) -> torch.Tensor:
    """Return a mask of the elements of a result without a unique right value in its dtype.

    :param run: returns the reference's results; it may write to the arguments.
    :param at: index of the result.
    :param peer: the CPU's result in the same dtype; None: there is none.
    :param sums: sums of the absolute values of the summands, if known.
    """
    nothing = torch.zeros(got.shape, dtype=torch.bool)
    computed = rule.op_class not in (OpClass.EXACT, OpClass.ROUNDING)
    if not computed or got.shape != want.shape or not got.is_floating_point():
        return nothing
    known = want.isfinite() & (want.abs() <= torch.finfo(got.dtype).max)
    found = nothing
    if sums is not None and sums.shape == got.shape:
        # Another order of the same terms leaves the range.
        found = known & ~got.isfinite() & ~(sums <= torch.finfo(got.dtype).max)
    if peer is not None:
        found = found | (known & ~peer.isfinite())
        if _leaves_range(tree, got.dtype):
            found |= known & ((peer.double() - want).abs() > want.abs() / 2)
            found |= ~known & ~want.isnan() & ~peer.isfinite() & ~got.isfinite()
    off = known & ~found & ~(got.double() == want)
    if bool(off.any()):
        # If the CPU raises, the reference is kept as it is.
        with contextlib.suppress(Exception):
            found |= off & _reached_by_rounding(run, tree, at, got, want)
    return found


def _floats(tree: Tree) -> list[torch.Tensor]:
    return [x for x in tensors_of(tree) if x.is_floating_point() and x.numel()]


def _leaves_range(tree: Tree, dtype: torch.dtype) -> bool:
    """Return True if sums of products of the arguments may overflow or underflow."""
    given = [float(x.detach().double().nan_to_num(0, 0, 0).abs().max()) for x in _floats(tree)]
    if not given:
        return False
    facts, count = torch.finfo(dtype), max(x.numel() for x in _floats(tree))
    largest = max(given)
    return largest * largest * count > facts.max or 0 < largest * largest < facts.tiny


def _reached_by_rounding(
    run: Run, tree: Tree, at: int, got: torch.Tensor, want: torch.Tensor
) -> torch.Tensor:
    """Return a mask of elements where perturbed arguments move the reference towards the result."""
    step = torch.finfo(torch.float64 if got.dtype is torch.float64 else torch.float32).eps
    reach = torch.zeros(got.shape, dtype=torch.float64)
    lost = torch.zeros(got.shape, dtype=torch.bool)
    for pattern in range(PATTERNS):
        answer = run(_move_arguments(tree, step, pattern))[at]
        if not isinstance(answer, torch.Tensor) or answer.shape != want.shape:
            continue
        change = (answer.detach().double() - want).abs()
        lost |= ~change.isfinite()
        reach = torch.maximum(reach, change.nan_to_num(0.0, 0.0, 0.0))
    return lost | ((got.double() - want).abs() <= MULTIPLE * reach)


def _move_arguments(tree: Tree, step: float, pattern: int) -> Tree:
    """Return a wider copy of the arguments with each element moved up or down by one step."""
    generator = torch.Generator().manual_seed(pattern // 2)
    way = step * (1 - pattern % 2 * 2)

    def move(tensor: torch.Tensor) -> torch.Tensor:
        signs = torch.randint(0, 2, tensor.shape, generator=generator) * 2 - 1
        with torch.no_grad():
            return tensor.mul_(1 + way * signs.to(tensor.dtype))

    copy = Relocation(tree, dtypes=WIDER)
    for flat in copy.parts():
        if flat.is_floating_point():
            move(flat)

    def leaf(value: Any) -> Any:
        expanded = isinstance(value, torch.Tensor) and value.is_floating_point()
        if not expanded or not any(
            step == 0 and size > 1 for step, size in zip(value.stride(), value.shape, strict=True)
        ):
            return value
        # An element that is expanded moves all its copies alike: the movements cancel.
        return move(value.detach().contiguous()).requires_grad_(value.requires_grad)

    return tree_map(leaf, copy.tree)
