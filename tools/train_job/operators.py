"""Operator calls that count as computation, and the fraction that runs natively."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import torch

# Calls that compute nothing. Views need no list: by their schema, the result aliases an argument
# without writing to it.
METADATA = frozenset({"is_pinned", "is_set_to", "record_stream", "set_", "set_data"})
ALLOCATION = frozenset(
    {"empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided", "resize_"}
)
COPIES = frozenset(
    {"copy_", "_copy_from", "_copy_from_and_resize", "_local_scalar_dense", "_pin_memory"}
    | {"_to_copy", "clone", "item"}
)
# Views whose schema does not declare it, because autograd treats the result as a new tensor.
HIDDEN_VIEWS = frozenset({"_unsafe_view", "lift_fresh"})


@dataclass(frozen=True)
class OperatorTime:
    """Calls of one overload and the seconds spent in them."""

    overload: str
    calls: int
    seconds: float


@dataclass(frozen=True)
class Share:
    """The native fraction of a set of leaf calls, by count and by time."""

    by_calls: float
    by_time: float
    calls: int


def computes(overload: str) -> bool:
    """Return True if ``overload`` (``add.Tensor`` or ``aten::add.Tensor``) is computation."""
    name, _, variant = overload.removeprefix("aten::").partition(".")
    if name in METADATA | ALLOCATION | COPIES | HIDDEN_VIEWS:
        return False
    try:
        operator = getattr(getattr(torch.ops.aten, name), variant or "default")
    except AttributeError:  # from another library than aten, without further information
        return True
    aliases = [result.alias_info for result in operator._schema.returns]
    is_view = any(alias is not None and not alias.is_write for alias in aliases)
    return not is_view and torch.Tag.inplace_view not in operator.tags


def operator_times(stats: Mapping[str, Mapping[str, int]]) -> list[OperatorTime]:
    """Return the computation in ``stats``, which maps overloads to count and nanoseconds."""
    return [
        OperatorTime(overload, entry["count"], entry["nanoseconds"] / 1e9)
        for overload, entry in stats.items()
        if entry["count"] and computes(overload)
    ]


def native_share(native: Iterable[OperatorTime], fallback: Iterable[OperatorTime]) -> Share:
    """Return the fraction of the leaf calls that ran natively; 0 without any call."""
    own, other = list(native), list(fallback)
    own_calls = sum(entry.calls for entry in own)
    own_seconds = sum(entry.seconds for entry in own)
    calls = own_calls + sum(entry.calls for entry in other)
    seconds = own_seconds + sum(entry.seconds for entry in other)
    return Share(own_calls / max(calls, 1), own_seconds / seconds if seconds else 0.0, calls)


def merge(lists: Iterable[Iterable[OperatorTime]]) -> list[OperatorTime]:
    """Merge equal overloads, the slowest first."""
    total: dict[str, tuple[int, float]] = {}
    for entries in lists:
        for entry in entries:
            calls, seconds = total.get(entry.overload, (0, 0.0))
            total[entry.overload] = (calls + entry.calls, seconds + entry.seconds)
    merged = [OperatorTime(name, *sums) for name, sums in total.items()]
    return sorted(merged, key=lambda entry: entry.seconds, reverse=True)
