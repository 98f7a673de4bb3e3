"""Arguments for operators on lists of tensors, by the parameter names of their schemas."""

from __future__ import annotations

from typing import Any

import torch

SIZE = 3
TENSORS = 4


def matrices(dtype: torch.dtype, seed: int) -> list[torch.Tensor]:
    """Return matrices of numbers for which all the functions are defined; every second one is
    transposed."""
    generator = torch.Generator().manual_seed(seed)
    numbers = torch.rand(TENSORS, SIZE, SIZE, generator=generator) * 0.8 + 0.1
    values = numbers if dtype.is_floating_point else (numbers * 8).ceil()
    return [value.to(dtype).t() if i % 2 else value.to(dtype) for i, value in enumerate(values)]


def foreach_arguments(op: Any, dtype: torch.dtype) -> tuple[list[Any], dict[str, Any]]:
    """Return the positional and named arguments of the overload."""
    positional: list[Any] = []
    named: dict[str, Any] = {}
    number = 0.5 if dtype.is_floating_point else 2
    for at, argument in enumerate(op._schema.arguments):
        kind = str(argument.type)
        if argument.name == "ord":
            value: Any = 2
        elif kind == "List[Tensor]":
            value = matrices(dtype, at)
        elif kind == "Tensor" and argument.name == "scalars":
            value = torch.full((TENSORS,), number, dtype=dtype)
        elif kind == "Tensor":
            value = torch.full((), number, dtype=dtype)
        elif kind == "List[number]":
            value = [number + i for i in range(TENSORS)]
        elif kind == "number":
            value = number
        else:
            continue
        if argument.kwarg_only:
            named[argument.name] = value
        else:
            positional.append(value)
    return positional, named
