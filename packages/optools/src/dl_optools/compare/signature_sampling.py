"""Sampling of calls: every new signature, then some of its later calls.

A signature is an operator with the shapes, strides and dtypes of its tensors and the arguments
that select its behaviour (dimensions, flags, names). Scalars that it computes with, such as a
learning rate, are excluded.

Every n-th call of a signature is compared again. If time is left, further calls are drawn at
random, with decreasing frequency: a call with values of a new kind is compared, as are a few of the
others.
"""

from __future__ import annotations

import enum
import functools
import random
from collections import Counter
from collections.abc import Hashable, Mapping
from typing import Any

import torch

from dl_optools.call import OpCall
from dl_optools.compare.overhead_budget import OverheadBudget
from dl_optools.compare.value_classes import value_class
from dl_optools.tensors import tensors_of

DEFAULT_EVERY = 100
COMPARED = 4
"""Sampling period: one of this many examined calls is compared, whatever its values are."""


class Pick(enum.Enum):
    """Decision about a call."""

    NEW = "new"
    """First call of its signature."""
    AGAIN = "again"
    """Periodic sample of its signature."""
    VALUES = "values"
    """The call's values are of a kind that was not yet examined for this signature."""
    TIME = "time"
    """Time was left for one more."""
    SKIP = "skip"


@functools.cache
def _numbers(function: Any) -> frozenset[int | str]:
    """Return positions and names of an overload's arguments that it computes with."""
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
    """Return the call's signature."""
    numbers = _numbers(call.function)
    parts: list[Any] = [call.function]
    for at, value in enumerate(call.args):
        parts.append(type(value) if at in numbers else _of(value))
    for name, value in call.kwargs.items():
        parts.append((name, type(value) if name in numbers else _of(value)))
    return tuple(parts)


class _SignatureState:
    """State of a signature: its calls, the next one to examine, and kinds of values."""

    __slots__ = ("calls", "examined", "next", "values")

    def __init__(self) -> None:
        self.calls = 1
        self.examined = 0
        self.next = 1
        self.values: set[Hashable] = set()


class SignatureSampler:
    """Selects calls; shared by threads.

    :param every: 1 selects all calls, n the first of each signature and every n-th after it.
    :param budget: time budget for further calls; None: no further calls.
    :ivar picks: how often each decision was made.
    :raises ValueError: ``every`` is below 1.
    """

    def __init__(self, every: int, budget: OverheadBudget | None = None) -> None:
        if every < 1:
            raise ValueError(f"every={every} is not a number of calls: 1 selects all calls")
        self.every = every
        self.picks: Counter[Pick] = Counter()
        self._extra_budget = budget
        self._seen: dict[Hashable, _SignatureState] = {}
        # A fixed seed selects the same calls in each run of a program if its timing is the same.
        self._random = random.Random(0)

    @property
    def signatures(self) -> int:
        return len(self._seen)

    def pick(self, call: OpCall) -> Pick:
        """Decide about a call."""
        found = self._pick(call)
        self.picks[found] += 1
        return found

    def _pick(self, call: OpCall) -> Pick:
        key = signature_of(call)
        seen = self._seen.get(key)
        if seen is None:
            seen = self._seen[key] = _SignatureState()
            if self._extra_budget is not None and self.every > 1:
                seen.values.add(value_class(tensors_of(call.args, call.kwargs)))
            return Pick.NEW
        if self.every == 1:
            return Pick.NEW
        count = seen.calls
        seen.calls = count + 1
        if count % self.every == 0:
            return Pick.AGAIN
        if self._extra_budget is not None and count >= seen.next and self._extra_budget.has_time():
            return self._examine(call, seen, self._extra_budget)
        return Pick.SKIP

    def _examine(self, call: OpCall, seen: _SignatureState, budget: OverheadBudget) -> Pick:
        begun = budget.clock()
        kind = value_class(tensors_of(call.args, call.kwargs))
        budget.spend(budget.clock() - begun)
        seen.examined += 1
        seen.next = seen.calls + self._random.randrange(min(2**seen.examined, self.every))
        if kind not in seen.values:
            seen.values.add(kind)
            return Pick.VALUES
        return Pick.TIME if seen.examined % COMPARED == 0 else Pick.SKIP
