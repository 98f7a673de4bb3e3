"""Refusal of calls in untrusted bundles that bypass torch's argument checks.

The rule inspects the operator's schema, so that it also covers operators that are added later. It
cannot detect operators that trust that an input was produced by a matching operator, such as the
indices that pooling passes to its backward; these run in a child process with limits, see
:mod:`.isolation`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from typing import Any

import torch

UNSAFE_FLAGS = {"unsafe": True, "check_invariants": False}
"""Arguments that disable checks, with the value that does so."""
HARMLESS_FLAGS = frozenset(["check_errors", "check_pinning", "mask_check"])
"""Arguments whose unchecked values can only make results wrong, without memory errors."""
CHOICES = frozenset(
    [
        *(
            "activation",
            "algorithm",
            "api_name",
            "approximate",
            "assert_msg",
            "attr",
            "binary_attr",
        ),
        *("binary_post_op", "driver", "equation", "indexing", "interpolation", "mode", "norm"),
        *("ord", "p", "pad_mode", "padding", "padding_side", "post_op_algorithm", "post_op_name"),
        *("reduce", "rounding_mode", "side", "unary_algorithm", "unary_attr", "unary_post_op"),
        *("unary_post_op_algorithm", "UPLO"),
    ]
)
"""String arguments that choose among a few algorithms."""
_DATA = frozenset(
    [
        *("Tensor", "int", "float", "bool", "number", "str", "Device", "Generator"),
        *("Optional", "List"),
    ]
)
"""Types of the values that a bundle can hold; all others are storages, streams and objects."""
_WORD = re.compile(r"[\w.]+", re.ASCII)
_UNCHECKED = re.compile(r"\w+_unsafe|(\w+_)?data_ptr")
"""Names of operators that build tensors from unchecked parts, or reveal addresses. Operators whose
names begin with ``unsafe`` are memory-safe: they leave out checks of autograd only."""


def find_risk(
    function: Callable[..., Any], name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> str:
    """Return the reason why a call is refused; empty if it is accepted.

    :param name: name of the operator, at its level.
    :param args: decoded, with references for tensors.
    """
    for schema in _schemas(function, name):
        own = schema.name.partition("::")[2]
        if _UNCHECKED.fullmatch(own):
            return f"{name} bypasses torch's checks"
        for argument in schema.arguments:
            kind = str(argument.type)
            if not _DATA.issuperset(_WORD.findall(kind)):
                return f"{name} takes {argument.name!r} of type {kind}, which is not data"
            if "str" in kind and argument.name not in CHOICES:
                return f"{name} takes a text {argument.name!r}, which may name a file or code"
        given = {**dict(zip((x.name for x in schema.arguments), args, strict=False)), **kwargs}
        for flag, value in UNSAFE_FLAGS.items():
            if flag in given and bool(given[flag]) is value and given[flag] is not None:
                return f"{flag}={given[flag]} makes {name} bypass torch's checks"
    return ""


def _schemas(function: Callable[..., Any], name: str) -> list[Any]:
    """Return the schemas of an overload, or of all overloads that a Python function may call."""
    if isinstance(function, torch._ops.OpOverload):
        return [function._schema]
    found = torch._C._jit_get_schemas_for_operator(f"aten::{name.rpartition('.')[2]}")
    # TorchScript has more under these names: for lists, strings and dictionaries.
    known = _dispatched()
    return [x for x in found if ".".join(filter(None, [x.name, x.overload_name])) in known]


@functools.cache
def _dispatched() -> frozenset[str]:
    return frozenset(torch._C._dispatch_get_all_op_names())
