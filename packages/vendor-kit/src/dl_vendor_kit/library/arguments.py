"""Conversion of an expression to an argument of a library's function."""

from __future__ import annotations

from dataclasses import dataclass

from .lower import NS, Lowered, convert_kind
from .model import Library
from .signatures import Argument, Function

# Kinds that the generated code fills in; expressions have no argument for them.
AUTOMATIC = ("stream", "handle", "workspace", "workspace_size", "workspace_result")


@dataclass(frozen=True, slots=True)
class Target:
    """An argument of a function that an expression fills."""

    argument: Argument
    kind: str


@dataclass(frozen=True, slots=True)
class Conversion:
    """The code of a ``dl::kit::library::Argument`` and the memory that it refers to."""

    code: str
    roots: frozenset[str] = frozenset()


def targets(library: Library, function: Function) -> list[Target]:
    """Return the arguments of a function that expressions fill, in order.

    A descriptor that is followed by its data pointer is filled with it.
    """
    kinds = [library.kind(x.type) or "unknown" for x in function.arguments]
    found = []
    for position, (argument, kind) in enumerate(zip(function.arguments, kinds, strict=True)):
        following = kinds[position + 1] if position + 1 < len(kinds) else ""
        if kind in AUTOMATIC or (kind == "descriptor" and following == "tensor"):
            continue
        found.append(Target(argument, kind))
    return found


def convert(value: Lowered, target: Target) -> Conversion | str:
    """Return the converted argument, or the reason why it does not fit."""
    argument, kind = target.argument, target.kind
    if value.kind == "null":
        if not argument.optional:
            return f"NULL is given, and {argument.name} is not optional"
        if kind not in ("tensor", "tensors", "scalar", "ints", "bools", "doubles", "descriptor"):
            return f"NULL is given for an argument of type {argument.type}"
        return Conversion(f"{NS}::Argument{{}}")
    if value.nullable and not argument.optional and kind != "string":
        return (
            f"{value.code} may be NULL, and {argument.name} is not optional; add a condition "
            "'when', or a helper"
        )
    code = _code(value, kind)
    if code is None:
        return f"a value of kind {value.kind} does not fit the type {argument.type}"
    return Conversion(f"{NS}::Argument{{{code}}}", value.roots)


def _code(value: Lowered, kind: str) -> str | None:
    if kind in ("tensor", "descriptor"):
        return value.code if value.kind == "tensor" else None
    if kind == "scalar":
        if value.kind in ("int", "double", "bool"):
            return f"{NS}::scalar_of({value.code})"
        return value.code if value.kind == "scalar" else None
    if kind == "integer":
        return convert_kind(value, "int")
    if kind == "boolean":
        return value.code if value.kind == "bool" else None
    if kind == "floating":
        return convert_kind(value, "double")
    if kind == "doubles":
        return convert_kind(value, "doubles")
    return value.code if value.kind == kind else None
