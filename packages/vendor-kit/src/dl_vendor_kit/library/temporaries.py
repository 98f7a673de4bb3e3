"""Check of a case's temporaries."""

from __future__ import annotations

import re

from diopi_proto.schema import DTYPES

from .case_state import CaseState, guard
from .expressions import ExpressionError, Items, parse
from .lower import lower
from .lowered import NS, Lowered, Scope
from .model import Text

_FRESH: tuple[frozenset[str], frozenset[str]] = (frozenset(), frozenset())
"""Tensors that a temporary with memory of its own is a view of."""
_TEMPORARY = re.compile(r"(?P<dtype>[^\s(\[]+(?:\([^)]*\))?)\s+(?P<rest>like\s.+|\[.*\]|@.+)")


def check_temporary(
    state: CaseState, name: str, text: Text, subject: str, scope: Scope
) -> tuple[str, Lowered]:
    """Return the code that makes a temporary, and the value of ``$name``.

    :raises DataError: the text does not describe a tensor.
    """
    code, viewed, parts = guard(text, subject, lambda: _code(state, name, text.text, scope))
    literal = text.text.split(" ", 1)[0]
    if literal in DTYPES:
        state.dtype_of[f"${name}"] = literal
    roots = frozenset((f"${name}",)) | viewed
    return code, Lowered("tensor", f"tmp_{name}", False, roots, parts=parts)


def _code(
    state: CaseState, name: str, text: str, scope: Scope
) -> tuple[str, frozenset[str], frozenset[str]]:
    """Return the code that makes a temporary, the tensors whose memory it is a view of, and those
    of which it has only a part."""
    match = _TEMPORARY.fullmatch(text)
    if text.startswith("like "):
        like = _tensor(text, 5, scope)
        return f"call_.temporary({NS}::dtype({like}), {NS}::shape({like}))", *_FRESH
    if match is None or text.startswith("@"):
        lowered = lower(parse(text), scope)
        if lowered.kind != "tensor":
            raise ExpressionError(
                0, "must be 'like x', 'DTYPE like x', 'DTYPE [sizes]' or a tensor"
            )
        if lowered.roots <= set(state.kinds):
            state.writes.add([f"${name}"], None)
        return lowered.code, lowered.roots, lowered.parts
    dtype = lower(parse(match["dtype"]), scope)
    if dtype.kind != "dtype":
        raise ExpressionError(0, f"{match['dtype']} is not a dtype; write float32 or dtype(x)")
    rest, start = match["rest"], match.start("rest")
    if rest.startswith("like "):
        like = _tensor(text, start + 5, scope)
        return f"call_.temporary({dtype.code}, {NS}::shape({like}))", *_FRESH
    try:
        return f"call_.temporary({dtype.code}, {_sizes(rest, scope)})", *_FRESH
    except ExpressionError as error:
        raise ExpressionError(start + error.column, str(error)) from error


def _sizes(text: str, scope: Scope) -> str:
    parsed = parse(text)
    sizes = lower(parsed, scope)
    if sizes.kind != "ints":
        raise ExpressionError(
            0, "the sizes must be a list of integers, such as [size(x, 0), 8] or @shape(x)"
        )
    for item in parsed.items if isinstance(parsed, Items) else ():
        constant = lower(item, scope).constant
        if constant is not None and constant < 0:
            raise ExpressionError(item.column, "a size is negative; write 0 or more")
    return sizes.code


def _tensor(text: str, start: int, scope: Scope) -> str:
    try:
        lowered = lower(parse(text[start:]), scope)
        if lowered.kind != "tensor" or lowered.nullable:
            reason = "may be NULL" if lowered.nullable else "is not a tensor"
            raise ExpressionError(0, f"{text[start:]} {reason}; name a tensor that is always there")
    except ExpressionError as error:
        raise ExpressionError(start + error.column, str(error)) from error
    return lowered.code
