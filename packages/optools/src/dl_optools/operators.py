"""Lookup of operators by name.

A name that comes from a file never causes an import or an attribute access: it is looked up in
torch's own lists. Functions that read or write files, communicate with other processes or take
Python code are excluded.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

import torch
from torch.overrides import get_overridable_functions

from dl_optools.levels import is_operator
from dl_optools.names import Level, api_name

_OVERLOAD = re.compile(r"([A-Za-z_]\w*)\.([A-Za-z_]\w*)\.([A-Za-z_]\w*)", re.ASCII)
_NOT_COMPUTING = frozenset(
    [
        "_c10d_functional",
        "_c10d_functional_autograd",
        "_dtensor",
        "c10d",
        "debug_mode_ops",
        "debugprims",
        "export",
        "inductor",
        "profiler",
        "rpc",
        "symm_mem",
    ]
)
_NO_OPERATORS = frozenset(
    {"torch.autocast"}
    | {
        f"torch.Tensor.{name}"
        for name in [
            "__array__",
            "__array_wrap__",
            "__contains__",
            "__dlpack__",
            "apply_",
            "map2_",
            "map_",
            "module_load",
            "numpy",
            "record_stream",
            "reinforce",
            "set_",
            "share_memory_",
            "storage_type",
            "tolist",
        ]
    }
)


class UnknownOperatorError(ValueError):
    """A name that does not stand for an operator of this process."""


@functools.cache
def _functions() -> dict[str, Callable[..., Any]]:
    """Return the functions that ``torch.overrides`` lists, by the names that tools use."""
    found: dict[str, Callable[..., Any]] = {}
    for functions in get_overridable_functions().values():
        for function in functions:
            name = api_name(function)
            if (
                name.startswith("torch.")
                and is_operator(name)
                and name not in _NO_OPERATORS
                and not isinstance(function, type)
            ):
                found[name] = function
    return found


def _overload(name: str) -> Any:
    parts = _OVERLOAD.fullmatch(name)
    if parts is None or parts[1] in _NOT_COMPUTING:
        return None
    namespace, operator, overload = parts.groups()
    full = f"{namespace}::{operator}" + ("" if overload == "default" else f".{overload}")
    # Operators of TorchScript (aten::save) are not on the dispatcher's list.
    if full not in torch._C._dispatch_get_all_op_names():
        return None
    found = getattr(getattr(getattr(torch.ops, namespace), operator), overload, None)
    if not isinstance(found, torch._ops.OpOverload) or not _computes(found):
        return None
    return found


def _computes(overload: Any) -> bool:
    schema = overload._schema
    kinds = [str(x.type) for x in (*schema.arguments, *schema.returns)]
    texts = [x.name for x in schema.arguments if "str" in str(x.type)]
    return any("Tensor" in kind for kind in kinds) and not any(
        word in name for name in texts for word in ("file", "path")
    )


@functools.cache
def operator(name: str, level: Level) -> Callable[..., Any]:
    """Return the function or overload of a name.

    :raises UnknownOperatorError: the name is unknown, or is not an operator.
    """
    found = _functions().get(name) if level is Level.API else _overload(name)
    if found is None:
        where = (
            "a function that torch.overrides lists as overridable"
            if level is Level.API
            else "an overload that computes with tensors (is its package imported?)"
        )
        raise UnknownOperatorError(
            f"{name!r} is not an operator of level {level.value!r}: not {where}"
        )
    return found


@functools.cache
def operator_names(level: Level) -> frozenset[str]:
    """Return the names of a level's operators, as far as torch lists them."""
    if level is Level.API:
        return frozenset(_functions())
    return frozenset(
        f"{name.replace('::', '.')}{'' if '.' in name else '.default'}"
        for name in torch._C._dispatch_get_all_op_names()
    )


def is_known(name: str, level: Level) -> bool:
    """Return True if :func:`operator` finds the name."""
    try:
        operator(name, level)
    except UnknownOperatorError:
        return False
    return True
