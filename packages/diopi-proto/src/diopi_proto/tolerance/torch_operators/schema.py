"""Facts from an overload's schema: the arguments that it writes, and those that it returns."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

Overload = torch._ops.OpOverload


@dataclass(frozen=True)
class Signature:
    """Facts about one overload.

    :ivar written: names of the arguments that it writes to.
    :ivar returned: for each result, the name of the written argument that it is, or None.
    :ivar view: True if it returns a view of an argument, or changes the argument's metadata
        (``t_``, ``resize_``, ``set_``), and so computes nothing.
    :ivar random: True if it uses random numbers.
    :ivar names: names of all arguments, in order.
    """

    names: tuple[str, ...]
    written: frozenset[str]
    returned: tuple[str | None, ...]
    view: bool
    random: bool

    def bind(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Return arguments by name; those with defaults may be missing."""
        return {**dict(zip(self.names, args, strict=False)), **kwargs}

    def mutated_tensors(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[Any]:
        """Return the values of the arguments that are written to: tensors, or lists of tensors."""
        bound = self.bind(args, kwargs)
        return [bound[name] for name in self.names if name in self.written and name in bound]


_STATISTICS = ("running_mean", "running_var")


def _undeclared(schema: Any) -> list[str]:
    """Return the arguments that older batch norms write although their schemas do not say so."""
    own = schema.name.partition("::")[2]
    if "batch_norm" not in own or "backward" in own or own.startswith("_"):
        return []
    return [each.name for each in schema.arguments if each.name in _STATISTICS]


def _set(argument: Any) -> frozenset[str]:
    info = argument.alias_info
    return frozenset() if info is None else frozenset(info.before_set)


@functools.cache
def signature(overload: Overload[Any, Any]) -> Signature:
    """Return the facts about an overload."""
    schema = overload._schema
    writers = [
        (argument.name, _set(argument))
        for argument in schema.arguments
        if argument.alias_info is not None and argument.alias_info.is_write
    ]
    returned = []
    for result in schema.returns:
        aliases = _set(result)
        is_written = result.alias_info is not None and result.alias_info.is_write
        owners = [name for name, own in writers if own & aliases] if is_written else []
        returned.append(owners[0] if owners else None)
    # Operators that return lists of views declare it at the argument only: `Tensor(a -> *) self`.
    shares = any(x.alias_info is not None for x in (*schema.arguments, *schema.returns))
    return Signature(
        names=tuple(argument.name for argument in schema.arguments),
        written=frozenset([*(name for name, _ in writers), *_undeclared(schema)]),
        returned=tuple(returned),
        view=torch.Tag.inplace_view in overload.tags or (shares and not writers),
        random=torch.Tag.nondeterministic_seeded in overload.tags,
    )
