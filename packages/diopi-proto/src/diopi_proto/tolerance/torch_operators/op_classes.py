"""Rounding bounds of overloads: class of the operator and length of its sums.

Most rules follow from schemas. The rest is listed here by name: operators that only move and
select, and operators that sum products. All other operators are elementary functions if torch marks
them as pointwise, otherwise sums, whose length follows from the shapes of their arguments.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from .. import OpClass
from .op_names import (
    ATTENTION,
    DEFINED_OUTPUTS,
    EXACT,
    LINEAR_SUMS,
    PICKS,
    POINTWISE,
    POOLS,
    PRODUCTS,
    ROUNDED_ONCE,
    UNDEFINED_OUTPUTS,
)
from .schema import Overload, signature
from .tensors import tensors_of
from .windows import in_windows


@dataclass(frozen=True)
class Rule:
    """Rule for the verification of one result.

    :ivar terms: length of its sums.
    :ivar roundings: number of times that intermediate values are rounded to the result's dtype.
    :ivar linear: True if the magnitude of its sums is the operator applied to absolute values.
    :ivar normwise: True if every element may have the error of the largest element.
    :ivar judged: False for results without a unique correct value.
    """

    op_class: OpClass
    terms: int = 1
    roundings: int = 0
    linear: bool = False
    normwise: bool = False
    judged: bool = True


@functools.cache
def base_name(overload: Overload[Any, Any]) -> str:
    """Return the base name: ``add`` of ``aten.add_.Tensor`` and of ``aten._foreach_add.List``."""
    name: str = overload._schema.name.partition("::")[2]
    name = name.removeprefix("_foreach_")
    return name if name.startswith("__") else name.removesuffix("_")


@functools.cache
def is_uninitialised(overload: Overload[Any, Any]) -> bool:
    """Return True if it returns uninitialized memory: the ``empty`` family, by its schema's
    name."""
    return base_name(overload).removeprefix("_").removeprefix("new_").startswith("empty")


@functools.cache
def is_defined(overload: Overload[Any, Any], position: int) -> bool:
    """Return True if a result has a unique correct value, which another call must reproduce.

    :param position: index of the overload's result; -1 for a written argument.
    """
    own = DEFINED_OUTPUTS.get(base_name(overload))
    if own is not None and position not in own:
        # Running statistics are defined; for ``out=`` the index of the result is unknown here.
        return position < 0 and not any(each.is_out for each in overload._schema.arguments)
    returns = overload._schema.returns
    return not (
        0 <= position < len(returns) and (returns[position].name or "") in UNDEFINED_OUTPUTS
    )


_SWITCHES = {"dropout_p": 0, "dropout": 0, "p": 0, "train": False, "training": False}
"""Argument values with which a random operator uses no random numbers."""


@functools.cache
def may_compute(overload: Overload[Any, Any]) -> bool:
    """Return False for overloads that never have a reference: views, changes of metadata,
    uninitialized memory, and random numbers that no argument disables."""
    facts = signature(overload)
    return not (
        facts.view
        or torch.Tag.inplace_view in overload.tags
        or is_uninitialised(overload)
        or (facts.random and not _SWITCHES.keys() & set(facts.names))
    )


def draws(overload: Overload[Any, Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool:
    """Return True if this call uses random numbers."""
    facts = signature(overload)
    if not facts.random:
        return False
    defaults = {each.name: each.default_value for each in overload._schema.arguments}
    bound = {**defaults, **facts.bind(args, kwargs)}
    # A probability may be a tensor, with a value for each element.
    given = {name: value for name, value in bound.items() if isinstance(value, (bool, int, float))}
    return not any(name in given and given[name] == off for name, off in _SWITCHES.items())


def rule_for(
    overload: Overload[Any, Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    result: Any,
    position: int,
) -> Rule:
    """Return the rule for a result of a call.

    :param result: the tensor or other value that the overload returned or wrote.
    :param position: index of the overload's result; -1 for a written argument.
    """
    name, facts = base_name(overload), signature(overload)
    if not is_defined(overload, position):
        return Rule(OpClass.EXACT, judged=False)
    bound = facts.bind(args, kwargs)
    if not isinstance(result, torch.Tensor) or _is_exact(overload, name, bound):
        return Rule(OpClass.EXACT)
    if name in PRODUCTS:
        terms = _product_length(name, bound, position)
        return Rule(OpClass.MATMUL, terms, linear=True)
    if name in ROUNDED_ONCE and bound.get("alpha", 1) == 1 and not bound.get("rounding_mode"):
        return Rule(OpClass.ROUNDING)
    if name.startswith("_fused_"):
        # An optimizer step has a few operations per element, however many elements there are.
        return Rule(OpClass.REDUCTION, 8)
    if torch.Tag.pointwise in overload.tags or name in POINTWISE or _is_list_form(overload):
        return Rule(OpClass.ELEMENTARY)
    terms = _sum_length(overload, bound, result)
    if name.startswith(ATTENTION):
        # Probabilities and, in the backward pass, the factors by which they are multiplied are
        # rounded in between.
        terms += _size(bound.get("query"), -1)
        return Rule(OpClass.REDUCTION, terms, roundings=4 if "backward" in name else 2)
    return Rule(OpClass.REDUCTION, terms, linear=name in LINEAR_SUMS)


def combine_rules(rules: Iterable[Rule], casts: int = 0) -> Rule:
    """Return the rule of a function composed of several overloads, whose errors add up.

    :param casts: number of additional roundings, as by conversions of autocast.
    """
    computing = [rule for rule in rules if rule.op_class is not OpClass.EXACT]
    if not computing:
        return Rule(OpClass.EXACT, roundings=casts)
    if len(computing) == 1 and not casts:
        return computing[0]
    terms = sum(rule.terms + 8 for rule in computing)
    roundings = len(computing) - 1 + casts + sum(rule.roundings for rule in computing)
    return Rule(OpClass.REDUCTION, terms, roundings=roundings)


def indices_match_values(
    overload: Overload[Any, Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    values: torch.Tensor,
    indices: torch.Tensor,
) -> bool:
    """Return True if the indices that a call returned select the values that it returned.

    Return False for operators that return no indices, and for operators that define the choice
    among equal values.
    """
    name = base_name(overload)
    bound = signature(overload).bind(args, kwargs)
    source = bound.get("self")
    if not isinstance(source, torch.Tensor) or values.shape != indices.shape:
        return False
    if name in POOLS:
        if not in_windows(bound, indices, source.shape[-POOLS[name] :]):
            return False
        flat = source.flatten(-POOLS[name])
        places = indices.flatten(-POOLS[name])
        return _leads_to(flat, -1, places, values.flatten(-POOLS[name]))
    if name not in PICKS or bound.get("stable") or source.dim() == 0:
        return False
    dim = bound.get("dim", -1)
    if not isinstance(dim, int):
        return False
    if values.dim() < source.dim():
        values, indices = values.unsqueeze(dim), indices.unsqueeze(dim)
    if name in ("topk", "sort"):
        ordered = indices.sort(dim).values
        if ordered.size(dim) > 1 and bool((ordered.diff(dim=dim) == 0).any()):
            return False
    return _leads_to(source, dim, indices, values)


def _leads_to(source: torch.Tensor, dim: int, places: torch.Tensor, values: torch.Tensor) -> bool:
    size = source.size(dim)
    if places.numel() and (int(places.min()) < 0 or int(places.max()) >= size):
        return False
    found = source.gather(dim, places)
    return bool(((found == values) | ((found != found) & (values != values))).all())


def _is_exact(overload: Overload[Any, Any], name: str, bound: Mapping[str, Any]) -> bool:
    if name == "index_put" and bound.get("accumulate"):
        return False
    if name == "scatter" and bound.get("reduce"):
        return False
    if name in ("abs", "sgn") and bound["self"].is_complex():
        return False
    return (
        name in EXACT
        or torch.Tag.view_copy in overload.tags
        or name.startswith(("bitwise_", "__and", "__or", "__xor"))
    )


def _is_list_form(overload: Overload[Any, Any]) -> bool:
    """Return True for a list form of an elementwise operator."""
    full = overload._schema.name
    return full.startswith("aten::_foreach_") and "norm" not in full


def _size(tensor: Any, dim: int) -> int:
    return int(tensor.shape[dim]) if isinstance(tensor, torch.Tensor) and tensor.dim() else 1


_FACTORS = {
    "addbmm": "batch1",
    "addmm": "mat1",
    "addmv": "mat",
    "baddbmm": "batch1",
    "linear": "input",
}
"""Operators whose inner dimension is the last dimension of an argument other than ``self``."""


def _product_length(name: str, bound: Mapping[str, Any], position: int) -> int:
    """Return the length of the inner products of a result."""
    if "conv" in name:
        return _convolution_length(name, bound, position)
    if name == "addr":
        return 1
    factor = bound.get(_FACTORS.get(name, "self"))
    if factor is None:
        return 1
    length = _size(factor, -1)
    return length * _size(factor, 0) if name == "addbmm" else length


def _convolution_length(name: str, bound: Mapping[str, Any], position: int) -> int:
    weight = bound.get("weight")
    if not isinstance(weight, torch.Tensor) or weight.dim() < 2:
        return _largest(bound.values())
    groups = int(bound.get("groups", 1))
    kernel = math.prod(weight.shape[2:])
    transposed = bool(bound.get("transposed", "transpose" in name))
    # A transposed convolution has the same weight as the convolution that it transposes.
    per_output = weight.shape[0] // groups if transposed else weight.shape[1]
    per_input = weight.shape[1] if transposed else weight.shape[0] // groups
    if "backward" not in name:
        return int(per_output * kernel)
    if position == 0:
        return int(per_input * kernel)
    gradient, source = bound.get("grad_output"), bound.get("input", bound.get("self"))
    positions = [math.prod(x.shape[2:]) for x in (gradient, source) if x is not None]
    return _size(gradient, 0) * max(positions, default=1)


def _largest(values: Iterable[Any]) -> int:
    return max((x.numel() for x in tensors_of(list(values))), default=1)


def _sum_length(
    overload: Overload[Any, Any], bound: Mapping[str, Any], result: torch.Tensor
) -> int:
    """Return the maximum number of argument elements that contribute to one element of the
    result."""
    name = base_name(overload)
    given = [x for x in tensors_of(*bound.values()) if x.is_floating_point() or x.is_complex()]
    largest = max(given, key=lambda x: x.numel(), default=None)
    if largest is None:
        return _largest(bound.values())
    count = largest.numel()
    if 0 < result.numel() < count:
        # When elements are accumulated by index, all elements may have the same index.
        evenly = torch.Tag.reduction in overload.tags or "norm" in name
        return -(-count // result.numel()) if evenly else count
    if "normalized_shape" in bound:
        return math.prod(bound["normalized_shape"])
    if "group_norm" in name and "group" in bound:
        return -(-count // max(_size(largest, 0) * int(bound["group"]), 1))
    if "batch_norm" in name and largest.dim() > 1:
        return -(-count // _size(largest, 1))
    dims = bound.get("dim")
    if isinstance(dims, int):
        dims = [dims]
    if isinstance(dims, (list, tuple)) and dims and largest.dim():
        return math.prod(int(largest.shape[dim]) for dim in dims if isinstance(dim, int))
    return count
