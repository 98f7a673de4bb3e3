"""Names of operators, as used in the lists of environment variables."""

from __future__ import annotations

import enum
import functools
from collections.abc import Callable
from typing import Any

import torch
from torch.overrides import resolve_name


class Level(enum.Enum):
    """Level at which a tool intercepts calls."""

    API = "api"
    """Functions of the Python interface: ``torch.nn.functional.linear``, ``torch.Tensor.add``."""
    DISPATCH = "dispatch"
    """Overloads of the dispatcher, in forward and backward: ``aten.addmm.default``."""

    @classmethod
    def _missing_(cls, value: object) -> Level:
        known = ", ".join(level.value for level in cls)
        raise ValueError(f"{value!r} is not a level; the levels are {known}")


_ALIASES = {"torch.spmm": "torch.mm"}
"""Better known names of functions that torch lists under their last name."""


@functools.cache
def api_name(function: Callable[..., Any]) -> str:
    """Return ``torch.nn.functional.linear``; for functions unknown to torch, module and name."""
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
    """Return the name in per-operator variables: ``LINEAR`` for ``torch.nn.functional.linear``,
    ``ADD`` for ``aten.add.Tensor`` and ``torch.Tensor.add_``."""
    parts = name.split(".")
    last = parts[1] if parts[0] == "aten" and len(parts) > 1 else parts[-1]
    # `__add__` is the name of a method, `add_` the name of an in-place operator.
    own = last if last.startswith("__") else last.removesuffix("_")
    return own.upper()
