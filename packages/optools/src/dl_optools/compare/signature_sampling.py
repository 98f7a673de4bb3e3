"""Which calls are looked at: every new signature, then every n-th call of it.

A signature is an operator with the shapes, strides and dtypes of its tensors and the arguments
that choose what it does (dimensions, flags, names). Numbers that it computes with, such as a
learning rate, do not belong to it.
"""

from __future__ import annotations

import enum
import functools
from collections.abc import Hashable, Mapping
from typing import Any

import torch

from dl_optools.call import OpCall

DEFAULT_EVERY = 100


class Pick(enum.Enum):
    """What becomes of a call."""

    NEW = "new"
    """Its signature was never seen."""
    AGAIN = "again"
    """Its signature's turn has come again."""
    SKIP = "skip"


@functools.cache
def _numbers(function: Any) -> frozenset[int | str]:
    """Positions and names of an overload's arguments that it computes with."""
    if not isinstance(function, torch._ops.OpOverload):
        return frozenset()
    found: set[int | str] = set()
    for at, argument in enumerate(function._schema.arguments):
        if str(argument.type) in ("number", "float", "Optional[number]", "Optional[float]"):
            found.update((at, argument.name))
    return frozenset(found)


def _of(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        if value.layout != torch.strided:
            return (value.layout, value.shape, value.dtype)
        return (value.shape, value.stride(), value.dtype)
    if isinstance(value, (list, tuple)):
        return tuple([_of(each) for each in value])
    if isinstance(value, (float, complex)):
        return float
    if isinstance(value, Mapping):
        return tuple([(name, _of(each)) for name, each in value.items()])
    return value if value is None or isinstance(value, _PLAIN) else type(value)


_PLAIN = (int, str, torch.dtype, torch.device, torch.memory_format, torch.layout)


def signature_of(call: OpCall) -> Hashable:
    """The call's signature."""
    numbers = _numbers(call.function)
    parts: list[Any] = [call.function]
    for at, value in enumerate(call.args):
        parts.append(type(value) if at in numbers else _of(value))
    for name, value in call.kwargs.items():
        parts.append((name, type(value) if name in numbers else _of(value)))
    return tuple(parts)


class SignatureSampler:
    """Picks calls; shared by threads.

    :param every: 1 looks at all calls, n at the first of each signature and every n-th after it.
    :raises ValueError: ``every`` is below 1.
    """

    def __init__(self, every: int) -> None:
        if every < 1:
            raise ValueError(f"every={every} is not a number of calls: 1 looks at all of them")
        self.every = every
        self._seen: dict[Hashable, int] = {}

    @property
    def signatures(self) -> int:
        return len(self._seen)

    def pick(self, call: OpCall) -> Pick:
        """What to do with a call."""
        if self.every == 1:
            self._seen.setdefault(signature_of(call), 0)
            return Pick.NEW
        key = signature_of(call)
        count = self._seen.get(key)
        if count is None:
            self._seen[key] = 1
            return Pick.NEW
        self._seen[key] = count + 1
        return Pick.AGAIN if count % self.every == 0 else Pick.SKIP
