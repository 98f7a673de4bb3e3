"""Values that the plans of dl-core's table compute for a call: ``plan.dim`` and other members.

The C++ in ``packages/core/csrc/aten/plans`` defines them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

from dl_optools.conformance.errors import NotServedError

Bound = Mapping[str, Any]
Plan = tuple[str, list[Any]]


def compute_plan_value(name: str, plan: Plan, bound: Bound) -> Any:
    """Return a value that the plan computes.

    :param plan: its name and values, as in the table.
    :param bound: the arguments of the overload by name.
    :raises NotServedError: the value is not implemented here.
    """
    if name not in _VALUES:
        raise NotServedError(f"the value {name!r} of dl-core's plan {plan[0]!r} is unknown here")
    return _VALUES[name](plan, bound)


def _dim(plan: Plan, bound: Bound) -> int | None:
    dim: int | None = bound["dim"]
    if dim is None or dim >= 0:
        return dim
    return dim + max(_ndim(bound) + (plan[0] == "stack"), 1)


def _ndim(bound: Bound) -> int:
    if "input_sizes" in bound:
        return len(bound["input_sizes"])
    # cat skips empty one-dimensional tensors.
    several: list[torch.Tensor] = bound.get("tensors", [])
    one = [x for x in bound.values() if isinstance(x, torch.Tensor)]
    return max(x.dim() for x in several or one[:1])


def _dims(plan: Plan, bound: Bound) -> list[int] | None:
    dims = bound["dim"]
    if dims is None or dims == []:
        return None
    ndim = max(_ndim(bound), 1)
    given = [dims] if isinstance(dims, int) else dims
    return [int(x) % ndim for x in given]


def _windows(argument: str, otherwise: str = "") -> Callable[[Plan, Bound], list[int]]:
    """Return a function for the sizes of a window; one size may stand for all dimensions."""

    def values(plan: Plan, bound: Bound) -> list[int]:
        found = bound[argument] or bound[otherwise]
        given = [found] if isinstance(found, int) else list(found)
        return given * (plan[1][0] if len(given) == 1 else 1)

    return values


def _epsilon(plan: Plan, bound: Bound) -> float:
    eps = bound["eps"]
    return torch.finfo(bound["input"].dtype).eps if eps is None else float(eps)


def _expanded_points(plan: Plan, bound: Bound) -> torch.Tensor:
    """Return the first points of a distance, with the batch of both operands."""
    x1, x2 = bound["x1"], bound["x2"]
    batch = torch.broadcast_shapes(x1.shape[:-2], x2.shape[:-2])
    expanded: torch.Tensor = x1.expand(*batch, *x1.shape[-2:])
    return expanded


def _expanded_windows(plan: Plan, bound: Bound) -> torch.Tensor:
    """Return the gradient of windows with the shape that ``unfold`` gives."""
    sizes, size = list(bound["input_sizes"]), bound["size"]
    if sizes:
        dim = bound["dim"] % len(sizes)
        sizes[dim] = (sizes[dim] - size) // bound["step"] + 1
    expanded: torch.Tensor = bound["grad_in"].expand(*sizes, size)
    return expanded


_VALUES: Mapping[str, Callable[[Plan, Bound], Any]] = {
    "dim": _dim,
    "dims": _dims,
    "kernel": _windows("kernel_size"),
    "stride": _windows("stride", "kernel_size"),
    "padding": _windows("padding"),
    "dilation": _windows("dilation"),
    "epsilon": _epsilon,
    "x1": _expanded_points,
    "grad": _expanded_windows,
}
