"""Check of ``library.yaml`` and the signature table: what the generated code needs of both."""

from __future__ import annotations

from collections.abc import Iterator

from .arguments import sizing_positions, targets
from .located import Finding, Place, close_names, quote
from .model import Library
from .names import is_defined, is_identifier, type_words
from .signatures import Function
from .text import opaque_types, value_types

# Names that the generated sources use where the names of functions and arguments are visible.
_TAKEN = frozenset(
    (
        *("Argument", "Function", "Kind", "Value", "begin", "call", "execute", "kFunctions"),
        *("lib", "functions", "operators", "values_", "workspace_", "workspace_size_", "bytes_"),
        *("executor_", "stream_", "int8_t", "int32_t", "int64_t", "uint64_t", "size_t"),
        *("NULL", "EOF", "assert", "errno"),
    )
)
_TABLES = ("k_", "s_")
"""Prefixes of tables about functions."""
_FIRST_PHASE = "GetWorkspaceSize"
_BITS = 64
"""Numbers of dtypes and formats that a set in a fake library can contain."""


def library_findings(library: Library) -> list[Finding]:
    """Return the findings about a library, apart from its operators."""
    return [
        *_sizing_findings(library),
        *_descriptor_findings(library),
        *_format_findings(library),
        *_copy_findings(library),
        *_name_findings(library),
        *_declaration_findings(library),
        *_number_findings(library),
    ]


def _place(library: Library, function: Function) -> Place:
    """Return where the signature table describes a function."""
    return Place(library.table_shown, function.line)


def _sizing_findings(library: Library) -> Iterator[Finding]:
    """Return findings about the functions that return the sizes of workspaces."""
    for function in library.functions.values():
        if not function.workspace:
            continue
        reason = ""
        if library.shape != "handle_descriptors":
            reason = (
                "only functions of the shape handle_descriptors have a workspace; remove "
                "'workspace'"
            )
        elif function.workspace not in library.functions:
            hint = close_names(function.workspace, library.functions)
            reason = (
                f"its workspace is sized by {quote(function.workspace)[1:-1]}, which is not in the "
                f"table{hint}; correct the name, or add the function"
            )
        else:
            reason = _sizing_problem(library, function)
        if reason:
            yield Finding(_place(library, function), function.name, reason)


def _sizing_problem(library: Library, function: Function) -> str:
    """Return why a function of the table cannot return the size of another one's workspace."""
    sizing = library.functions[function.workspace]
    if sizing is function:
        return "it sizes its own workspace; name another function"
    try:
        positions = sizing_positions(library, function)
    except ValueError as error:
        return f"{error}, which it does not take; correct the names of the arguments"
    if "workspace" not in _kinds(library, function):
        return (
            "it has no argument of the kind workspace; add it, or remove 'workspace' from the entry"
        )
    if "workspace_result" not in _kinds(library, sizing):
        return (
            f"{sizing.name}, which sizes its workspace, has no argument of the kind "
            "workspace_result; give the type of its result that kind under 'types'"
        )
    given = targets(library, function)
    for target, position in zip(targets(library, sizing), positions, strict=True):
        other = given[position]
        of_tensor = {target.kind, other.kind} <= {"descriptor", "descriptors", "tensor", "tensors"}
        if not of_tensor and target.kind != other.kind:
            return (
                f"{target.argument.name} has the type {other.argument.type}, and "
                f"{target.argument.type} in {sizing.name}, which sizes its workspace; correct one"
            )
    return ""


def _kinds(library: Library, function: Function) -> list[str | None]:
    return [library.kind(argument.type) for argument in function.arguments]


def _descriptor_findings(library: Library) -> Iterator[Finding]:
    """Return findings about arguments that name another one as their descriptor."""
    for function in library.functions.values():
        kinds = {a.name: library.kind(a.type) for a in function.arguments}
        for argument in function.arguments:
            kind = kinds.get(argument.descriptor)
            if not argument.descriptor or kind in ("descriptor", "descriptors"):
                continue
            known = [name for name, each in kinds.items() if each in ("descriptor", "descriptors")]
            remedy = f"choose from {', '.join(known)}" if known else "remove the key 'descriptor'"
            yield Finding(
                _place(library, function),
                f"{function.name}, argument {argument.name}",
                f"{quote(argument.descriptor)} is not a descriptor; {remedy}",
            )


def _format_findings(library: Library) -> Iterator[Finding]:
    """Return findings about documented formats that library.yaml does not number."""
    for function in library.functions.values():
        for argument in function.arguments:
            for name in argument.formats:
                if name not in library.formats:
                    yield Finding(
                        _place(library, function),
                        f"{function.name}, argument {argument.name}",
                        f"{quote(name)} is not in the table of formats"
                        f"{close_names(name, library.formats)}; correct the name, or add it to "
                        "'formats' of library.yaml",
                    )


def _copy_findings(library: Library) -> Iterator[Finding]:
    """Return a finding if the function that copies does not take one tensor and write another."""
    if not library.copy:
        return
    given = targets(library, library.functions[library.copy])
    written = [x.argument.writes for x in given]
    if [x.kind for x in given] != ["tensor", "tensor"] or sorted(written) != [False, True]:
        shown = ", ".join(f"{x.argument.name}: {x.kind}, {x.argument.io}" for x in given)
        yield Finding(
            library.place("copy"),
            "copy",
            f"{library.copy} takes ({shown}); name a function of two tensors, which writes one of "
            "them",
        )


def _name_findings(library: Library) -> Iterator[Finding]:
    """Return findings about names that mean something else in the generated code."""
    types = (library.status, library.stream, library.executor)
    words = frozenset().union(*map(type_words, types)) | frozenset().union(
        *(type_words(a.type) for f in library.functions.values() for a in f.arguments)
    )
    tables = {f"{prefix}{name}" for name in library.functions for prefix in _TABLES}
    symbols = {}
    if library.shape == "two_phase":
        symbols = {f"{name}{_FIRST_PHASE}": name for name in library.functions}
    for name, function in library.functions.items():
        reason = ""
        if name in _TAKEN or name in tables or is_defined(name):
            reason = "the generated code uses this name"
        elif name in words:
            reason = "a type has this name"
        elif name in symbols:
            reason = f"it is the first phase of {symbols[name]}, which describes both"
        if reason:
            yield Finding(
                _place(library, function),
                name,
                f"cannot be described: {reason}; remove the function, and call it from a C++ "
                "function of the vendor if it is needed",
            )
        # A parameter hides the types of those behind it.
        own = frozenset().union(*(type_words(a.type) for a in function.arguments))
        for argument in function.arguments:
            if argument.name in _TAKEN or argument.name in own:
                yield Finding(
                    _place(library, function),
                    f"{name}, argument {argument.name}",
                    "the generated code uses this name for something else; rename the argument, "
                    "whose name is free",
                )


def _declaration_findings(library: Library) -> Iterator[Finding]:
    """Return findings about types that the generated code cannot declare without a header."""
    if library.declarations or library.header:
        return
    declared = {*opaque_types(library), *value_types(library)}
    used = {
        **dict.fromkeys((library.status, library.stream), library.where),
        **{
            argument.type: _place(library, function)
            for function in library.functions.values()
            for argument in function.arguments
            # Calls that use a type without a kind have findings.
            if library.kind(argument.type) is not None
        },
    }
    for name in sorted(declared):
        if not is_identifier(name):
            yield Finding(library.place("types"), f"types, {name}", _undeclared(name))
    for type_, where in used.items():
        unknown = sorted(
            word
            for word in type_words(type_)
            if is_identifier(word) and word not in declared and word not in _STANDARD
        )
        if unknown:
            yield Finding(where, f"types, {type_}", _undeclared(unknown[0]))


_STANDARD = frozenset(
    (*(f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)), "size_t")
)


def _undeclared(name: str) -> str:
    return (
        f"{quote(name)} cannot be declared without a header; name a header that declares it under "
        "'declarations' of library.yaml"
    )


def _number_findings(library: Library) -> Iterator[Finding]:
    """Return findings about numbers that do not fit the sets in the fake library."""
    if "fake" not in library.outputs:
        return
    for key, numbers in (("dtypes", library.dtypes), ("formats", library.formats)):
        for name, number in numbers.items():
            if number >= _BITS:
                yield Finding(
                    library.place(key),
                    key,
                    f"{name} has the number {number}, and a fake library takes numbers below "
                    f"{_BITS}; correct it, or remove the output 'fake'",
                )
