"""Calls that are refused where nobody vouches for the bundle: those that leave out torch's checks.

The rule goes over the operator's schema, so that it holds for operators that are added later. It
cannot see which operators trust what they take for their own work, such as the indices that a
pooling hands to its backward; a child with limits is for these, see :mod:`.isolation`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from typing import Any

import torch

UNSAFE_FLAGS = {"unsafe": True, "check_invariants": False}
"""Arguments that switch checks off, by the value that does."""
HARMLESS_FLAGS = frozenset(["check_errors", "check_pinning", "mask_check"])
"""What they leave unchecked makes results wrong at most: no memory is at stake."""
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
"""Texts that choose among a few ways to compute."""
_DATA = frozenset(
    [
        *("Tensor", "int", "float", "bool", "number", "str", "Device", "Generator"),
        *("Optional", "List"),
    ]
)
"""Of these are the types of what a bundle holds. Others are storages, streams and objects."""
_WORD = re.compile(r"[\w.]+", re.ASCII)
_UNCHECKED = re.compile(r"\w+_unsafe|(\w+_)?data_ptr")
"""Names of operators that make tensors of parts that nobody checks, or tell addresses. Those whose
names begin with ``unsafe`` are safe for memory: what is left out concerns autograd."""


def why_unsafe(
    function: Callable[..., Any], name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> str:
    """Why a call is refused; empty where it is not.

    :param name: of the operator, at its level.
    :param args: decoded, with references for tensors.
    """
    for schema in _schemas(function, name):
        own = schema.name.partition("::")[2]
        if _UNCHECKED.fullmatch(own):
            return f"{name} does without torch's checks"
        for argument in schema.arguments:
            kind = str(argument.type)
            if not _DATA.issuperset(_WORD.findall(kind)):
                return f"{name} takes {argument.name!r} of type {kind}, which is not data"
            if "str" in kind and argument.name not in CHOICES:
                return f"{name} takes a text {argument.name!r}, which may name a file or code"
        given = {**dict(zip((x.name for x in schema.arguments), args, strict=False)), **kwargs}
        for flag, value in UNSAFE_FLAGS.items():
            if flag in given and bool(given[flag]) is value and given[flag] is not None:
                return f"{flag}={given[flag]} makes {name} do without torch's checks"
    return ""


def _schemas(function: Callable[..., Any], name: str) -> list[Any]:
    """That of an overload, or those of all that a function of Python's interface may lead to."""
    if isinstance(function, torch._ops.OpOverload):
        return [function._schema]
    found = torch._C._jit_get_schemas_for_operator(f"aten::{name.rpartition('.')[2]}")
    # TorchScript has more under these names: for lists, texts and dictionaries.
    known = _dispatched()
    return [x for x in found if ".".join(filter(None, [x.name, x.overload_name])) in known]


@functools.cache
def _dispatched() -> frozenset[str]:
    return frozenset(torch._C._dispatch_get_all_op_names())
