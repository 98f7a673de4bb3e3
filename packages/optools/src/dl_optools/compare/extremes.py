"""Results for nan and infinity where the CPU's result is not the only correct one.

- It may depend on the position of an element: in some operators the CPU's vectorized code and its
  code for the remaining elements differ for nan. Then the results of both are right.
- It may be nan as an artifact of a formula: gelu(-inf) as -inf times 0. If the function tends to
  a limit, that is right, too. Operations defined by IEEE 754 (products, sums, comparisons) have no
  such artifacts.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.utils._pytree import tree_map

from diopi_proto.tolerance import OpClass
from diopi_proto.tolerance.torch_operators.comparison import same_elements
from diopi_proto.tolerance.torch_operators.op_classes import Rule
from dl_optools.tensors import tensors_of

Tree = Any
Run = Callable[[Tree], Sequence[Any]]

FAR = (1e4, 1e50)
"""Substitutes for infinity, at both of which a function has reached its limit; cubes are finite."""
MOST = 1 << 14
"""Maximum number of examined elements; if more are in question, something else is wrong."""
LANES = 64
"""Number of adjacent copies of one value: more than a vector register holds."""


def settle(
    runs: Sequence[Run],
    tree: Tree,
    at: int,
    got: torch.Tensor,
    want: torch.Tensor,
    rule: Rule,
) -> torch.Tensor | None:
    """Return a result in which equally right elements have the reference's value; None without any.

    :param runs: each returns the reference's results for a tree of arguments, in its own dtypes.
    :param at: index of the result.
    """
    if got.shape != want.shape or not got.is_floating_point() or not want.is_floating_point():
        return None
    rounded = want.to(got.dtype)
    off = ~same_elements(got, rounded)
    right = torch.zeros(got.shape, dtype=torch.bool)
    for run in runs:
        # If the CPU raises, the reference is kept as it is.
        with contextlib.suppress(Exception):
            right |= _find_equally_right(run, tree, at, got, off & ~right, rounded, rule)
    return torch.where(right, rounded, got) if bool(right.any()) else None


def _find_equally_right(
    run: Run,
    tree: Tree,
    at: int,
    got: torch.Tensor,
    off: torch.Tensor,
    rounded: torch.Tensor,
    rule: Rule,
) -> torch.Tensor:
    right = torch.zeros(got.shape, dtype=torch.bool)
    if rule.op_class in (OpClass.ELEMENTARY, OpClass.REDUCTION) and not rule.linear:
        accidents = off & rounded.isnan()
        if bool(accidents.any()):
            right |= accidents & _is_limit(run, tree, at, got)
    unclear = off & ~right
    return right | _is_elsewhere(run, tree, at, got, unclear) if bool(unclear.any()) else right


def _is_limit(run: Run, tree: Tree, at: int, got: torch.Tensor) -> torch.Tensor:
    """Return a mask of elements equal to the limit of the reference as infinite arguments grow."""
    nothing = torch.zeros(got.shape, dtype=torch.bool)
    if not any(bool(x.isinf().any()) for x in _floats(tree)):
        return nothing

    def towards(far: float) -> torch.Tensor | None:
        def leaf(value: Any) -> Any:
            if not isinstance(value, torch.Tensor) or not value.is_floating_point():
                return value
            wide = value.detach().double()
            return wide.nan_to_num(math.nan, far, -far).requires_grad_(value.requires_grad)

        found = run(_map_tensors(leaf, tree))[at]
        fits = isinstance(found, torch.Tensor) and found.shape == got.shape
        return found.detach().double() if fits else None

    near, far = map(towards, FAR)
    if near is None or far is None:
        return nothing
    close = 4 * torch.finfo(got.dtype).eps
    have = got.double()
    steady = ((near - far).abs() <= close * far.abs().clamp_min(1)) & (
        (have - far).abs() <= close * far.abs().clamp_min(1)
    )
    grown = have.isinf() & (far.abs() > math.sqrt(FAR[1])) & (far.sign() == have.sign())
    return steady | grown


def _is_elsewhere(
    run: Run, tree: Tree, at: int, got: torch.Tensor, unclear: torch.Tensor
) -> torch.Tensor:
    """Return a mask of elements equal to the CPU's result for the same arguments elsewhere.

    Applies to elementwise functions of arguments with the result's shape, and to their elements
    with a non-finite argument.
    """
    nothing = torch.zeros(got.shape, dtype=torch.bool)
    given = _floats(tree)
    if not given or any(_spread(x, got) is None for x in tensors_of(tree)):
        return nothing
    strange = nothing.clone()
    for each in given:
        strange |= ~each.detach().expand(got.shape).isfinite()
    places = (unclear & strange).flatten().nonzero().flatten()
    if not 0 < places.numel() <= MOST:
        return nothing

    def picked(lay_out: Callable[[torch.Tensor], torch.Tensor]) -> Tree:
        def leaf(value: Any) -> Any:
            if not isinstance(value, torch.Tensor) or value.dim() == 0:
                return value
            flat = value.detach().expand(got.shape).flatten()[places]
            return lay_out(flat).requires_grad_(value.requires_grad)

        return _map_tensors(leaf, tree)

    have = got.flatten()[places]
    found = torch.zeros(places.shape, dtype=torch.bool)
    # Adjacent copies run through vector code; strided ones run one at a time.
    layouts: list[tuple[Callable[[torch.Tensor], torch.Tensor], Callable[[Any], Any]]] = [
        (lambda x: x.repeat_interleave(LANES), lambda x: x[::LANES]),
        (lambda x: torch.stack([x, x], 1)[:, 0], lambda x: x),
    ]
    for lay_out, take in layouts:
        answer = run(picked(lay_out))[at]
        if not isinstance(answer, torch.Tensor) or answer.dim() != 1:
            return nothing
        values = take(answer.detach().to(got.dtype))
        if values.shape != have.shape:
            return nothing
        found |= same_elements(have, values)
    right = nothing.flatten()
    right[places[found]] = True
    return right.view(got.shape)


def _floats(tree: Tree) -> list[torch.Tensor]:
    return [x for x in tensors_of(tree) if x.is_floating_point()]


def _spread(tensor: torch.Tensor, like: torch.Tensor) -> torch.Size | None:
    """Return the result's shape if it has one element for each element of this argument, or
    None."""
    try:
        shape = torch.broadcast_shapes(tensor.shape, like.shape)
    except RuntimeError:
        return None
    return shape if shape == like.shape else None


def _map_tensors(leaf: Callable[[Any], Any], tree: Tree) -> Tree:
    """Return a tree with new tensors; a tensor that occurs twice also does so in the new tree."""
    known: dict[int, Any] = {}

    def once(value: Any) -> Any:
        if id(value) not in known:
            known[id(value)] = leaf(value)
        return known[id(value)]

    return tree_map(once, tree)
