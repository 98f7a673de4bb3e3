"""Descriptions of arguments and results, with ditorch's keys."""

from __future__ import annotations

import math
from typing import Any

import torch

from dl_optools.arguments import Facts, facts_of, named_facts


def describe_call(args: Any, kwargs: Any = ()) -> str:
    """Describe arguments, given as facts of :mod:`dl_optools.arguments` or as values."""
    if isinstance(kwargs, dict):
        args, kwargs = facts_of(args), named_facts(kwargs)
    described: dict[str, Any] = {"args": tuple(map(_describe, args))}
    if kwargs:
        described["kwargs"] = {name: _describe(fact) for name, fact in kwargs}
    return str(described)


def describe_result(facts: Facts, device: str = "") -> str:
    """Describe results.

    :param device: device type to show instead of the tensors' own.
    """
    return str(tuple(_describe(fact, device) for fact in facts))


def _describe(fact: Any, device: str = "") -> Any:
    if isinstance(fact, tuple) and fact and isinstance(fact[0], torch.Size) and len(fact) == 5:
        shape, dtype, place, strides, requires_grad = fact
        return {
            "shape": shape,
            "stride": strides,
            "numel": math.prod(shape),
            "dtype": str(dtype),
            "device": device or str(place),
            "requires_grad": requires_grad,
        }
    if isinstance(fact, tuple) and fact and fact[0] is list:
        return [_describe(each, device) for each in fact[1:]]
    if isinstance(fact, tuple) and fact and fact[0] is dict:
        return {key: _describe(each, device) for key, each in fact[1:]}
    return str(fact)
