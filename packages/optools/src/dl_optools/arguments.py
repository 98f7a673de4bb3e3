"""Signatures of arguments: shapes, dtypes and strides, but never the values in tensors.

Facts are plain hashable tuples, because they are collected at each call;
:func:`describe_arguments` formats them later. Facts of a tensor are
``(shape, dtype, device, strides, requires_grad)``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch

Facts = tuple[Any, ...]

_Tensor, _Parameter = torch.Tensor, torch.nn.Parameter
_VALUES = frozenset(
    {int, str, type(None), torch.dtype, torch.device, torch.layout, torch.memory_format, torch.Size}
)


class _Flag:
    """A boolean as a fact: plain True and False would be equal to 1 and 0."""

    def __init__(self, value: bool) -> None:
        self.text = str(value)

    def __repr__(self) -> str:
        return self.text


_TRUE, _FALSE = _Flag(True), _Flag(False)


class _Kind:
    """A value whose type is the only recorded fact."""

    def __init__(self, value: Any) -> None:
        self.text = type(value).__name__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Kind) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return self.text


def _tensor(tensor: torch.Tensor) -> Facts:
    try:
        strides: tuple[int, ...] | None = tensor.stride()
    except RuntimeError:
        # Sparse and nested tensors have no strides.
        strides = None
    return (tensor.shape, tensor.dtype, tensor.device, strides, tensor.requires_grad)


def _other(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return _tensor(value)
    if isinstance(value, (list, tuple)):
        return (list, *facts_of(value))
    if isinstance(value, Mapping):
        return (dict, *((key, _other(entry)) for key, entry in value.items()))
    if isinstance(value, bool):
        return _TRUE if value else _FALSE
    return value if type(value) in _VALUES else _Kind(value)


def facts_of(values: Any) -> Facts:
    """Return the facts of several arguments or results, in order.

    For floating-point numbers only the type is recorded: the values may differ at each call.
    """
    found: list[Any] = []
    for value in values:
        kind = type(value)
        if kind is _Tensor or kind is _Parameter:
            try:
                found.append(
                    (value.shape, value.dtype, value.device, value.stride(), value.requires_grad)
                )
            except RuntimeError:
                found.append(_tensor(value))
        elif kind in _VALUES:
            found.append(value)
        else:
            found.append(_other(value))
    return tuple(found)


def named_facts(kwargs: Mapping[str, Any]) -> Facts:
    """Return pairs of name and facts."""
    return tuple((name, _other(value)) for name, value in kwargs.items())


@dataclass(frozen=True)
class Argument:
    """One argument or result in readable form.

    :ivar place: ``args[0]``, ``args[1][2]``, ``dim``, ``result``.
    :ivar value: text of a value that is not a tensor.
    """

    place: str
    shape: tuple[int, ...] | None = None
    dtype: str = ""
    device: str = ""
    strides: tuple[int, ...] | None = None
    requires_grad: bool = False
    value: str = ""

    def __str__(self) -> str:
        if self.shape is None:
            return self.value
        marks = ", ".join(
            [
                *(
                    []
                    if self.strides in (None, _dense(self.shape))
                    else [f"strides {self.strides}"]
                ),
                *(["requires grad"] if self.requires_grad else []),
            ]
        )
        return f"{self.dtype}{list(self.shape)}" + (f" ({marks})" if marks else "")


def _dense(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the strides of a contiguous tensor."""
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


def _is_tensor(facts: Any) -> bool:
    return type(facts) is tuple and len(facts) == 5 and type(facts[0]) is torch.Size


def _walk(place: str, facts: Any) -> Iterator[Argument]:
    if _is_tensor(facts):
        shape, dtype, device, strides, requires_grad = facts
        name = str(dtype).removeprefix("torch.")
        yield Argument(place, tuple(shape), name, str(device), strides, requires_grad)
    elif type(facts) is tuple and facts and facts[0] is list:
        entries = facts[1:]
        if any(type(entry) is tuple for entry in entries):
            for at, entry in enumerate(entries):
                yield from _walk(f"{place}[{at}]", entry)
        else:
            yield Argument(place, value=str(list(entries)))
    elif type(facts) is tuple and facts and facts[0] is dict:
        for name, entry in facts[1:]:
            yield from _walk(f"{place}[{name!r}]", entry)
    elif isinstance(facts, torch.Size):
        yield Argument(place, value=str(list(facts)))
    else:
        yield Argument(place, value=str(facts))


def describe_arguments(
    positional: Facts, named: Facts = (), prefix: str = "args"
) -> list[Argument]:
    """Return the arguments that facts describe; elements of lists are listed individually."""
    found: list[Argument] = []
    for at, facts in enumerate(positional):
        found.extend(_walk(f"{prefix}[{at}]", facts))
    for name, facts in named:
        found.extend(_walk(name, facts))
    return found


def facts_of_result(result: Any) -> Facts:
    """Return the facts of a function's result: one value, or several in a list or tuple."""
    return facts_of(result if isinstance(result, (list, tuple)) else (result,))


def shapes_in(positional: Facts, named: Facts) -> Facts:
    """Return shape and dtype of each tensor in the facts, including those in lists."""
    found: list[tuple[Any, torch.dtype]] = []

    def visit(facts: Any) -> None:
        if _is_tensor(facts):
            found.append((facts[0], facts[1]))
        elif type(facts) is tuple:
            for entry in facts:
                visit(entry)

    visit(positional)
    visit(named)
    return tuple(found)
