"""Costs of one call: bytes of arguments and results, and floating-point operations.

Operations are counted by the formulas of :mod:`torch.utils.flop_counter` (a multiplication and an
addition are two), for products, convolutions and attention only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch.utils import flop_counter

from diopi_proto.tolerance.torch_operators.schema import Overload, signature
from dl_optools.tensors import tensors_of

# These read only those parts of their first tensor that the other arguments select.
_LOOK_UP = frozenset(
    {
        "embedding",
        "gather",
        "index",
        "index_select",
        "take",
        "take_along_dim",
        "torch.nn.functional.embedding",
        "torch.index_select",
        "torch.gather",
        "torch.take",
        "torch.Tensor.__getitem__",
        "torch.Tensor.gather",
        "torch.Tensor.index_select",
        "torch.Tensor.take",
    }
)


def _bytes(tensor: torch.Tensor) -> int:
    if tensor.layout != torch.strided:
        return 0
    elements = 1
    for size, stride in zip(tensor.size(), tensor.stride(), strict=True):
        # Expanded dimensions share memory.
        elements *= size if stride != 0 else min(size, 1)
    return elements * tensor.element_size()


def _sum(tensors: list[torch.Tensor]) -> int:
    seen: dict[int, torch.Tensor] = {id(tensor): tensor for tensor in tensors}
    return sum(map(_bytes, seen.values()))


def overload_bytes(
    overload: Overload[Any, Any], args: tuple[Any, ...], kwargs: Mapping[str, Any], result: Any
) -> int:
    """Return the minimum number of bytes that an overload reads and writes."""
    facts = signature(overload)
    if facts.view:
        return 0
    bound = facts.bind(args, kwargs)
    out = {argument.name for argument in overload._schema.arguments if argument.is_out}
    read = tensors_of({name: value for name, value in bound.items() if name not in out})
    written = tensors_of(facts.mutated_tensors(args, kwargs), result)
    if overload._schema.name.partition("::")[2] in _LOOK_UP and read:
        return 2 * _sum(written) + _sum(read[1:])
    return _sum(read) + _sum(written)


def function_bytes(
    name: str, given: list[torch.Tensor], versions: list[int | None], result: Any
) -> int:
    """Return the same for a Python function; 0 if it only created views of its arguments.

    :param versions: versions of the arguments before the call; see :func:`version`.
    """
    returned = tensors_of(result)
    changed = [
        tensor
        for tensor, before in zip(given, versions, strict=True)
        if before is None or version(tensor) != before
    ]
    memory = {_memory(tensor) for tensor in given}
    if not changed and all(_memory(tensor) in memory for tensor in returned):
        return 0
    if name in _LOOK_UP and given:
        return 2 * _sum(returned) + _sum(given[1:])
    kept = {id(tensor) for tensor in returned}
    return _sum(given) + _sum(returned) + _sum([x for x in changed if id(x) not in kept])


def version(tensor: torch.Tensor) -> int | None:
    """Return how often a tensor was written to; None if torch does not count it."""
    return None if tensor.is_inference() else tensor._version


def _memory(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage()._cdata if tensor.layout == torch.strided else id(tensor)


def _attention_products(query: Any, key: Any, value: Any, keys: int, values: int) -> int:
    """Return the operations of that many products of queries by keys, and of scores by values.

    Shapes: query (..., L, E), key (..., S, E), value (..., S, Ev).
    """
    scores = query.numel() // query.shape[-1] * key.shape[-2]
    return 2 * int(scores * (keys * query.shape[-1] + values * value.shape[-1]))


def _attention(query: Any, key: Any, value: Any, *args: Any, **kwargs: Any) -> int:
    return _attention_products(query, key, value, 1, 1)


def _attention_backward(
    grad: Any, query: Any, key: Any, value: Any, *args: Any, **kwargs: Any
) -> int:
    # The scores again, and gradients of query, key, scores and value.
    return _attention_products(query, key, value, 3, 2)


def _vectors(matrix: Any, *args: Any, **kwargs: Any) -> int:
    return 2 * int(matrix.numel())


_aten = torch.ops.aten
# Formulas that are missing in the registry of torch 2.13.
_FORMULAS: dict[Any, Callable[..., int]] = {
    _aten._scaled_dot_product_flash_attention_for_cpu: _attention,
    _aten._scaled_dot_product_flash_attention_for_cpu_backward: _attention_backward,
    _aten._scaled_dot_product_fused_attention_overrideable: _attention,
    _aten._scaled_dot_product_fused_attention_overrideable_backward: _attention_backward,
    _aten.mv: _vectors,
    _aten.dot: _vectors,
}


def formula(overload: Overload[Any, Any]) -> Callable[..., int] | None:
    """Return the formula for an overload's operations; None if there is none."""
    packet = overload.overloadpacket
    return flop_counter.flop_registry.get(packet) or _FORMULAS.get(packet)


def overload_flops(
    overload: Overload[Any, Any], args: tuple[Any, ...], kwargs: Mapping[str, Any], result: Any
) -> int:
    """Return the floating-point operations of one call; 0 if no formula is known."""
    count = formula(overload)
    if count is None:
        return 0
    try:
        return int(count(*args, **kwargs, out_val=result))
    except (AssertionError, IndexError, RuntimeError, TypeError, ValueError):
        # The formula does not support these arguments or layouts.
        return 0
