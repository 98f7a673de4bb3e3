"""Names of operators, as the lists of the environment spell them."""

from __future__ import annotations

import enum
import functools
from collections.abc import Callable
from typing import Any

import torch
from torch.overrides import resolve_name


class Level(enum.Enum):
    """Where a tool stands in the way of calls."""

    API = "api"
    """Functions of Python's interface: ``torch.nn.functional.linear``, ``torch.Tensor.add``."""
    DISPATCH = "dispatch"
    """Overloads under the dispatcher, in forward and backward: ``aten.addmm.default``."""

    @classmethod
    def _missing_(cls, value: object) -> Level:
        known = ", ".join(level.value for level in cls)
        raise ValueError(f"{value!r} is not a level; the levels are {known}")


_ALIASES = {"torch.spmm": "torch.mm"}
"""torch knows functions by the last of their names; these have a better known one."""


@functools.cache
def api_name(function: Callable[..., Any]) -> str:
    """``torch.nn.functional.linear``; for functions that torch does not know, module and name."""
    name = resolve_name(function)
    if name is not None:
        return _ALIASES.get(name, str(name))
    module = getattr(function, "__module__", None)
    own = getattr(function, "__qualname__", None) or getattr(function, "__name__", repr(function))
    # Private functions of torch are methods of a class that users never see.
    own = str(own).removeprefix("_VariableFunctionsClass.")
    return f"{module}.{own}" if module else own


@functools.cache
def overload_name(overload: torch._ops.OpOverload[Any, Any]) -> str:
    """``aten.add.Tensor``."""
    return str(overload)


def short_name(name: str) -> str:
    """What per-operator variables are named after: ``LINEAR`` of ``torch.nn.functional.linear``,
    ``ADD`` of ``aten.add.Tensor`` and of ``torch.Tensor.add_``."""
    parts = name.split(".")
    last = parts[1] if parts[0] == "aten" and len(parts) > 1 else parts[-1]
    # `__add__` is the name of a method, `add_` that of an operator that writes to its argument.
    own = last if last.startswith("__") else last.removesuffix("_")
    return own.upper()
