"""Conversion of an expression to an argument of a library's function."""

from __future__ import annotations

from dataclasses import dataclass

from .located import close_names
from .lowered import NS, Lowered, convert_kind
from .model import Library
from .names import LARGEST_FLOAT, integer_range
from .signatures import Argument, Function

# Kinds that the generated code fills in, with their names in ArgumentFacts::Automatic.
_AUTOMATIC = {
    "stream": "kStream",
    "handle": "kHandle",
    "workspace": "kWorkspace",
    "workspace_size": "kWorkspaceSize",
    "workspace_result": "kWorkspaceResult",
}

# Kinds of arguments that may be NULL.
_POINTERS = (
    *("tensor", "tensors", "scalar", "ints", "bools", "doubles"),
    *("descriptor", "descriptors", "object"),
)
# The kind of a C type that library.yaml does not list.
_UNKNOWN = "unknown"
# ArgumentFacts::Automatic of the arguments that expressions fill.
_GIVEN = ("kNo", "kOnlyDescriptor", "kOnlyDescriptors")


@dataclass(frozen=True, slots=True)
class Target:
    """An argument of a function that an expression fills."""

    argument: Argument
    kind: str


@dataclass(frozen=True, slots=True)
class Conversion:
    """The code of a ``dl::kit::library::Argument`` and the memory that it refers to.

    :ivar parts: the roots of which the argument has only a part of the elements.
    """

    code: str
    roots: frozenset[str] = frozenset()
    parts: frozenset[str] = frozenset()


def automatic(library: Library, function: Function, position: int) -> str:
    """Return the ``ArgumentFacts::Automatic`` of an argument: what the generated code fills in.

    A descriptor that is followed by its data pointer is filled with it, and so are lists of both.
    """
    kind, *after = (library.kind(x.type) for x in function.arguments[position : position + 2])
    if kind == "descriptor":
        return "kDescriptor" if after == ["tensor"] else "kOnlyDescriptor"
    if kind == "descriptors":
        return "kDescriptors" if after == ["tensors"] else "kOnlyDescriptors"
    return _AUTOMATIC.get(kind or "", "kNo")


def targets(library: Library, function: Function) -> list[Target]:
    """Return the arguments of a function that expressions fill, in order."""
    return [
        Target(argument, library.kind(argument.type) or _UNKNOWN)
        for position, argument in enumerate(function.arguments)
        if automatic(library, function, position) in _GIVEN
    ]


def sizing_positions(library: Library, function: Function) -> list[int]:
    """Return which given arguments a function shares with the function that sizes its workspace.

    They are found by name: a descriptor stands for the tensor that follows it.

    :raises ValueError: an argument of the sizing function is not an argument of the function.
    """
    sizing = library.functions[function.workspace]
    given = [a.name for a in (target.argument for target in targets(library, function))]
    found = []
    for target in targets(library, sizing):
        position = function.find(target.argument.name)
        if position is not None and automatic(library, function, position) in (
            "kDescriptor",
            "kDescriptors",
        ):
            position += 1
        name = "" if position is None else function.arguments[position].name
        if name not in given:
            raise ValueError(
                f"{sizing.name}, which sizes its workspace, takes {target.argument.name}"
            )
        found.append(given.index(name))
    return found


def convert(value: Lowered, target: Target, library: Library) -> Conversion | str:
    """Return the converted argument, or the reason why it does not fit."""
    argument, kind = target.argument, target.kind
    if kind == _UNKNOWN:
        hint = close_names(argument.type, library.types)
        return (
            f"the type {argument.type} has no kind{hint}; correct it in {library.table}, or add it "
            "to 'types' of library.yaml"
        )
    if value.kind == "null":
        if not argument.optional:
            return f"NULL is given, and {argument.name} is not optional; pass a value"
        if kind not in _POINTERS:
            return f"NULL is given for an argument of type {argument.type}; pass a value"
        return Conversion(f"{NS}::Argument{{}}")
    if value.nullable and not argument.optional and kind != "string":
        return (
            f"{value.code} may be NULL, and {argument.name} is not optional; add a condition "
            "'when', or a helper"
        )
    code = _code(value, kind)
    if code is None:
        return (
            f"a value of kind {value.kind} does not fit the type {argument.type}; pass another "
            "value, or convert it by a helper"
        )
    reason = _range_problem(value.constant, argument.type, kind)
    if reason:
        return reason
    return Conversion(f"{NS}::Argument{{{code}}}", value.roots, value.parts)


def _range_problem(constant: float | None, type_: str, kind: str) -> str:
    """Return why a constant does not fit a C type of numbers."""
    if constant is None:
        return ""
    if kind == "integer":
        smallest, largest = integer_range(type_)
        if not smallest <= constant <= largest:
            return f"{constant} does not fit the type {type_}; pass {smallest} to {largest}"
    if kind == "floating" and type_ == "float" and abs(constant) > LARGEST_FLOAT:
        return f"{constant} does not fit the type float; pass a smaller number"
    return ""


def _code(value: Lowered, kind: str) -> str | None:
    if kind in ("tensor", "descriptor"):
        return value.code if value.kind == "tensor" else None
    if kind == "descriptors":
        return value.code if value.kind == "tensors" else None
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
