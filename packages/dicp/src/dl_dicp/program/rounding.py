"""Comparison of a compiled graph with eager operators that round at different points.

A compiler may sum in another order and round at different points. The tolerance is the change of
the results when the arguments are perturbed by one rounding step. Some results are nothing but
rounding errors: the gradient of a bias before a norm, for example, is zero in theory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch.fx import GraphModule
from torch.utils._pytree import tree_leaves

from dl_dicp.program.agreement import STEPS, agree, replica, slack
from dl_dicp.recording.memory import is_plain, span

HALF_STEPS = 8
"""Rounding steps in graphs that compute in half precision: eager mode rounds between operators,
while a compiler keeps intermediate results in float32."""


def first_difference(
    module: GraphModule, arguments: Sequence[Any], made: Sequence[Any], wanted: Sequence[Any]
) -> int | None:
    """Return the index of the first value in which two runs disagree; None if they agree.

    :param arguments: arguments for further runs, which measure how much the results depend on
        rounding. The graph may have written to them.
    :param made: results of the graph, followed by its arguments after the run.
    :param wanted: the same values of the eager run.
    """
    pairs = list(zip(made, wanted, strict=True))
    differing = [place for place, (a, b) in enumerate(pairs) if not _agree(a, b, 0.0)]
    if not differing:
        return None
    allowed = _rounding(module, arguments)
    return next((i for i in differing if not _agree(*pairs[i], allowed[i])), None)


def _agree(made: Any, wanted: Any, allowed: float) -> bool:
    """Return True if two values agree; their strides may differ."""
    if not isinstance(made, torch.Tensor):
        return agree(made, wanted)
    if made.shape != wanted.shape or made.dtype != wanted.dtype:
        return False
    if made.stride() != wanted.stride():
        made, wanted = made.contiguous(), wanted.contiguous()
    if agree(made, wanted):
        return True
    if not made.is_floating_point():
        return False
    one, other = made.detach().cpu(), wanted.detach().cpu()
    atol = slack(other, one.dtype) + allowed
    return torch.allclose(one, other, rtol=0, atol=atol, equal_nan=True)


def _rounding(module: GraphModule, arguments: Sequence[Any]) -> list[float]:
    """Return the differences of results and mutated arguments that rounding alone can cause."""
    eps = _coarsest(module)
    steps = STEPS if eps <= torch.finfo(torch.float32).eps else HALF_STEPS
    generator = torch.Generator().manual_seed(0)
    runs = []
    for amount in (0.0, eps):
        given = [_rounded(each, amount, generator) for each in arguments]
        runs.append([*module(*given), *given])
    return [steps * _distance(a, b) for a, b in zip(*runs, strict=True)]


def _coarsest(module: GraphModule) -> float:
    """Return the largest unit roundoff of the dtypes in which a graph computes."""
    dtypes = {
        value.dtype
        for node in module.graph.nodes
        for value in tree_leaves(node.meta.get("val"))
        if isinstance(value, torch.Tensor) and value.is_floating_point()
    }
    return max((torch.finfo(dtype).eps for dtype in dtypes), default=0.0)


def _rounded(value: Any, amount: float, generator: torch.Generator) -> Any:
    """Return a copy of a tensor whose elements are randomly scaled up or down by a
    relative step.
    """
    if not isinstance(value, torch.Tensor) or not is_plain(value, value.device):
        return value
    copy = replica(value.detach())
    if amount and copy.is_floating_point():
        # Applied to the memory, since several elements of the tensor may share an address.
        length = span(copy.shape, copy.stride())
        memory = copy.as_strided((length,), (1,), copy.storage_offset())
        signs = torch.randint(0, 2, (length,), generator=generator) * 2 - 1
        memory.mul_((1 + amount * signs).to(copy.device, copy.dtype))
    return copy


def _distance(a: Any, b: Any) -> float:
    if not isinstance(a, torch.Tensor) or not a.is_floating_point() or not a.numel():
        return 0.0
    apart = (a.detach().cpu().double() - b.detach().cpu().double()).abs()
    return float(apart[torch.isfinite(apart)].max()) if torch.isfinite(apart).any() else 0.0
