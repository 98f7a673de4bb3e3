"""Calls of views and helpers in expressions."""

from __future__ import annotations

from collections.abc import Callable

from .helpers import VIEWS, Helper
from .located import close_names, quote
from .lowered import NS, Lowered, Scope, convert_kind
from .syntax import Call, Expression
from .tokens import ExpressionError

_LISTED = 12
"""Names that a message lists if none is similar."""
_PARTS = frozenset(("select", "slice", "lane0", "real_part", "imaginary_part"))
"""Views of a part of a tensor's elements."""


def call_helper(
    expression: Call, scope: Scope, lower_argument: Callable[[Expression], Lowered]
) -> Lowered:
    """Return the call of a view or helper.

    :raises ExpressionError: it is unknown, or an argument does not fit.
    """
    shown, helper = _find(expression, scope)
    given = expression.arguments
    takes = list(helper.takes)
    if takes and takes[-1].endswith("*"):
        repeated = takes.pop().removesuffix("*")
        takes += [repeated] * (len(given) - len(takes))
    # Only the last arguments can be left out.
    least = max((i for i, kind in enumerate(takes, start=1) if not kind.endswith("?")), default=0)
    if helper.takes and not any(kind.endswith("*") for kind in helper.takes):
        least = max(least, 1)
    if not least <= len(given) <= len(takes):
        expected = f"({', '.join(helper.takes)})"
        raise ExpressionError(
            expression.column,
            f"{shown} takes {expected}, and {len(given)} arguments are given; give those",
        )
    codes = ["call_"] if helper.context else []
    roots: frozenset[str] = frozenset()
    reads: frozenset[str] = frozenset()
    parts: frozenset[str] = frozenset()
    nullable = False
    for position, (argument, full_kind) in enumerate(zip(given, takes, strict=False), start=1):
        kind = full_kind.removesuffix("&")
        lowered = lower_argument(argument)
        code = convert_kind(lowered, kind.removesuffix("?"))
        if code is None and not (lowered.kind == "null" and kind.endswith("?")):
            raise ExpressionError(
                argument.column,
                f"argument {position} of {shown} must be of kind {kind.removesuffix('?')}, "
                f"and this is of kind {lowered.kind}; give another value, or convert it",
            )
        if lowered.nullable and not kind.endswith("?") and _guards(kind):
            raise ExpressionError(
                argument.column,
                f"argument {position} of {shown} may be NULL here; add a condition 'when'",
            )
        parts |= lowered.roots if expression.function in _PARTS else lowered.parts
        nullable = nullable or (lowered.nullable and kind.endswith("?"))
        codes.append(code if code is not None else _none(kind.removesuffix("?")))
        # A helper with the call's context returns new memory, or the memory of a slot.
        if helper.returns == "action":
            if full_kind.endswith("&"):
                roots |= lowered.roots
            else:
                reads |= lowered.roots
        # A view shares the memory of its first argument; `first` may return either.
        elif lowered.kind == "slot" or (
            not helper.context and (position == 1 or expression.function == "first")
        ):
            roots |= lowered.roots
    for kind in takes[len(given) :]:
        codes.append(_none(kind.removesuffix("?")))
    result_nullable = helper.returns == "tensor" and expression.function == "first" and nullable
    kept = roots if helper.returns in ("tensor", "tensors", "action") else frozenset()
    code = f"{helper.function}({', '.join(codes)})"
    return Lowered(helper.returns, code, result_nullable, kept, reads, parts=kept & parts)


def _guards(kind: str) -> bool:
    """Return True if NULL is an error for this kind; lists of integers may be empty."""
    return kind in ("tensor", "scalar", "string")


def _none(kind: str) -> str:
    return {
        "tensor": f"{NS}::View{{}}",
        "scalar": f"{NS}::Scalar{{}}",
        "ints": f"{NS}::Ints{{}}",
        "int": "int64_t{-1}",
    }.get(kind, "nullptr")


def _find(expression: Call, scope: Scope) -> tuple[str, Helper]:
    """Return the name for messages, and the view or helper."""
    name = expression.function
    mark = "@" if expression.helper else ""
    helper = scope.helpers.get(name)
    # Views are written without a mark, and helpers with one.
    if helper is not None and (name in VIEWS) == (not expression.helper):
        return f"{mark}{name}", helper
    shown = f"{mark}{quote(name)[1:-1]}"
    if helper is not None:
        right = name if name in VIEWS else f"@{name}"
        raise ExpressionError(expression.column, f"{shown} is written {right}; correct the mark")
    names = [each if each in VIEWS else f"@{each}" for each in scope.helpers]
    hint = close_names(shown, names)
    if not hint:
        # The vendor's own helpers come last in the mapping.
        alike = [each for each in reversed(names) if each.startswith("@") == expression.helper]
        hint = f"; the known names include {', '.join(alike[:_LISTED])}"
    raise ExpressionError(
        expression.column,
        f"{shown} is not a helper or view{hint}; correct the name, or declare a helper of your own "
        "under 'helpers' of library.yaml",
    )
