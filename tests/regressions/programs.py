"""Calls of one overload as programs: traced with some tensors, run with others of equal shapes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from opinfo.derived_calls import TOLD_RESULTS, CallOf, operator
from torch.func import functionalize
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils._pytree import tree_flatten, tree_unflatten

Program = Callable[..., Any]
Tensors = tuple[torch.Tensor, ...]


def has_kernel(overload: str, key: str) -> bool:
    return bool(torch._C._dispatch_has_kernel_for_dispatch_key(f"aten::{overload}", key))


def registered() -> list[str]:
    """Return the overloads of ATen for which dl-core has kernels, without ``aten::``."""
    listed = torch._C._dispatch_get_registrations_for_dispatch_key
    names = {*listed("PrivateUse1"), *listed("AutogradPrivateUse1")}
    return sorted(name.removeprefix("aten::") for name in names if name.startswith("aten::"))


def is_above_decomposition(overload: str) -> bool:
    """Return True if torch's own devices decompose an overload for which dl has one kernel."""
    explicit = ("CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional")
    if has_kernel(overload, "CompositeImplicitAutograd"):
        return True
    return not has_kernel(overload, "CPU") and any(has_kernel(overload, key) for key in explicit)


def as_function(call: CallOf, device: str) -> tuple[Program, Tensors]:
    """Return the call as a function of its tensors, which also returns what it writes to, and the
    tensors."""
    _, args, kwargs = call.arguments(device)
    leaves, spec = tree_flatten((args, kwargs))
    places = [at for at, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]
    op, told = operator(call.overload), TOLD_RESULTS.get(call.overload)

    def function(*tensors: torch.Tensor) -> Tensors:
        given = list(leaves)
        for at, tensor in zip(places, tensors, strict=True):
            given[at] = tensor.clone()
        positional, named = tree_unflatten(given, spec)
        result = op(*positional, **named)
        written = [given[at] for at in places]
        return tensors_in((result if told is None else result[:told], written))

    return function, tuple(leaves[at] for at in places)


def tensors_in(tree: Any) -> Tensors:
    return tuple(leaf for leaf in tree_flatten(tree)[0] if isinstance(leaf, torch.Tensor))


def others(tensors: Sequence[torch.Tensor], *, integers: bool) -> Tensors:
    """Return tensors with other values from the same range."""

    def other(tensor: torch.Tensor) -> torch.Tensor:
        floating = tensor.is_floating_point() or tensor.is_complex()
        if not floating and not integers:
            return tensor.clone()
        rolled = tensor.flatten().roll(1).reshape(tensor.shape)
        return rolled * 0.75 if floating else rolled

    return tuple(map(other, tensors))


class _Exported(torch.nn.Module):
    def __init__(self, function: Program) -> None:
        super().__init__()
        self.function = function

    def forward(self, *tensors: torch.Tensor) -> Any:
        return self.function(*tensors)


def traced(function: Program, tensors: Tensors) -> Program:
    return torch.jit.trace(function, tensors, check_trace=False)


def symbolic(function: Program, tensors: Tensors) -> Program:
    return make_fx(function, tracing_mode="fake")(*tensors)


def functionalized(function: Program, tensors: Tensors) -> Program:
    return make_fx(functionalize(function))(*tensors)


def exported(function: Program, tensors: Tensors) -> Program:
    return torch.export.export(_Exported(function), tensors).module()
