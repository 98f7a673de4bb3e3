"""Reader of ``library.yaml``, which checks its form."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from diopi_proto.schema import DTYPES

from . import signature_file
from .helper_file import read_helpers
from .helpers import HELPERS, VIEWS
from .located import DataError, Value, close_names, quote, shorten
from .model import NUMBERS, SHAPES, TYPE_KINDS, Library
from .names import (
    LARGEST_INT,
    header_problem,
    is_identifier,
    label_problem,
    namespace_problem,
    qualified_problem,
    type_problem,
)
from .signatures import plain_type
from .yaml_file import read

OUTPUTS = ("sources", "page", "fake", "functions")
_KEYS = frozenset(
    (
        *("name", "shape", "open", "signatures", "vendor", "types", "dtypes", "formats"),
        *("defaults", "copy", "helpers", "outputs", "namespace", "headers", "stream", "executor"),
        *("declarations", "header", "status"),
    )
)
_MOST_DIMENSIONS = 8


def read_library(folder: Path, shown: str) -> Library:
    """Read ``library.yaml`` and the signature table of a folder.

    :param shown: the path of the folder in findings.
    :raises DataError: one of the files is invalid.
    """
    root = read(folder / "library.yaml", f"{shown}/library.yaml")
    subject = "library.yaml"
    keys = root.mapping(subject, _KEYS)

    def text(
        key: str,
        default: str | None = None,
        problem: Callable[[str], str] = label_problem,
    ) -> str:
        if key in keys:
            return _checked(keys[key], key, problem)
        if default is None:
            raise DataError(root.where, subject, f"the key {key!r} is missing; add it")
        return default

    def texts(key: str, problem: Callable[[str], str]) -> tuple[str, ...]:
        return tuple(_checked(x, key, problem) for x in keys[key].items(key)) if key in keys else ()

    def part(key: str, names: tuple[str, ...]) -> dict[str, Value]:
        return keys[key].mapping(key, frozenset(names)) if key in keys else {}

    shape = text("shape")
    if shape not in SHAPES:
        raise DataError(
            keys["shape"].where,
            "shape",
            f"must be one of {', '.join(SHAPES)}, not {quote(shape)}{close_names(shape, SHAPES)}",
        )
    formats = _numbers("formats", keys.get("formats"))
    vendor = part("vendor", ("class", "header"))
    outputs = part("outputs", OUTPUTS)
    table = text("signatures", "signatures.json")
    table_file = folder / table
    # An absolute path is shown as it is.
    functions = signature_file.load(table_file, str(Path(shown) / table))
    copy = text("copy", "")
    if copy and copy not in functions:
        raise DataError(
            keys["copy"].where,
            "copy",
            f"{shorten(copy)} is not in the signature table{close_names(copy, functions)}; correct "
            f"the name, or add the function to {table_file.name}",
        )
    return Library(
        folder=folder,
        shown=shown,
        where=root.where,
        places={key: value.where for key, value in (keys | outputs).items()},
        name=text("name"),
        shape=shape,
        opened=texts("open", label_problem),
        types=_types(keys.get("types")),
        dtypes=_dtypes(keys.get("dtypes")),
        formats=formats,
        format_by_rank=_formats(keys.get("defaults"), formats),
        copy=copy,
        helpers={**VIEWS, **HELPERS, **read_helpers(keys.get("helpers"))},
        vendor_class=_checked(vendor["class"], "class", _class_problem)
        if "class" in vendor
        else "Vendor",
        vendor_header=_checked(vendor["header"], "header", header_problem)
        if "header" in vendor
        else "vendor.h",
        headers=texts("headers", header_problem),
        declarations=texts("declarations", header_problem),
        header=text("header", "", header_problem),
        status=plain_type(text("status", "int", _status_problem)),
        signatures=table,
        # Generated files must not depend on the folder from which the generator runs.
        table=f"{folder.resolve().name}/{table_file.name}",
        namespace=text(
            "namespace",
            None if "namespace" in keys else _namespace(keys["name"]),
            namespace_problem,
        ),
        stream=text("stream", "void*", type_problem),
        executor=text("executor", "void", _executor_problem),
        outputs={key: value.text(f"outputs, {key}") for key, value in outputs.items()},
        functions=functions,
    )


def _checked(value: Value, subject: str, problem: Callable[[str], str]) -> str:
    """Return a text, which ``problem`` finds valid."""
    found = value.text(subject)
    reason = problem(found)
    if reason:
        raise DataError(value.where, subject, reason)
    return found


def _class_problem(name: str) -> str:
    return qualified_problem(name, "a C++ class")


def _executor_problem(name: str) -> str:
    if name == "void":
        return ""
    return qualified_problem(name, "the type of an executor, without '*'")


def _status_problem(name: str) -> str:
    if NUMBERS.get(plain_type(name)) == "integer" or is_identifier(name):
        return ""
    return (
        f"{quote(name)} is not the type of a status; write the name of an integer type or an "
        "enumeration"
    )


def _namespace(name: Value) -> str:
    """Return the name of the library as the namespace of the generated code."""
    text = name.text("name")
    if namespace_problem(text):
        raise DataError(
            name.where,
            "name",
            f"{quote(text)} cannot be the namespace of the generated code; add the key "
            "'namespace', as in 'dl::chip'",
        )
    return text


def _types(given: Value | None) -> dict[str, str]:
    found: dict[str, str] = {}
    if given is None:
        return found
    for name, value in given.mapping("types").items():
        type_, kind = plain_type(name), value.text("types")
        where = given.places[name]
        reason = type_problem(type_)
        if not reason and kind not in TYPE_KINDS:
            reason = (
                f"{quote(kind)} is not one of {', '.join(sorted(TYPE_KINDS))}"
                f"{close_names(kind, TYPE_KINDS)}"
            )
        if reason:
            raise DataError(where, f"types, {type_}", reason)
        if type_ in found:
            raise DataError(where, "types", f"{type_} occurs twice in this mapping; remove one")
        found[type_] = kind
    return found


def _numbers(subject: str, given: Value | None) -> dict[str, int]:
    """Return the library's numbers of dtypes or formats."""
    found: dict[str, int] = {}
    if given is None:
        return found
    for name, value in given.mapping(subject).items():
        reason = label_problem(name)
        if reason:
            raise DataError(given.places[name], subject, reason)
        number = value.integer(subject)
        if number > LARGEST_INT:
            raise DataError(
                value.where,
                subject,
                f"{name} has the number {number}, which does not fit C's int; correct it",
            )
        if number < 0:
            raise DataError(
                value.where,
                subject,
                f"{name} has the number {number}; remove it if the library does not have it",
            )
        same = next((other for other, known in found.items() if known == number), None)
        if same is not None:
            raise DataError(
                value.where,
                subject,
                f"{same} and {name} have the same number, {number}; give each the number that the "
                "library's header states, and remove what the library does not have",
            )
        found[name] = number
    return found


def _dtypes(given: Value | None) -> dict[str, int]:
    found = _numbers("dtypes", given)
    for name in found:
        if name not in DTYPES:
            assert given is not None
            raise DataError(given.places[name], "dtypes", unknown_dtype(name))
    return found


def unknown_dtype(name: str) -> str:
    """Return the message about a text that is not a dtype."""
    hint = close_names(name, DTYPES)
    return f"{quote(name)} is not a dtype{hint}; the dtypes are {', '.join(DTYPES)}"


def _formats(defaults: Value | None, formats: Mapping[str, int]) -> dict[int | None, str]:
    if defaults is None:
        return {}
    given = defaults.mapping("defaults", frozenset(("format",))).get("format")
    if given is None:
        return {}
    found: dict[int | None, str] = {}
    for key, value in given.mapping("format").items():
        name = value.text("format")
        if name not in formats:
            raise DataError(
                value.where,
                "format",
                f"{quote(name)} is not in the table of formats{close_names(name, formats)}; "
                "correct the name, or add it to 'formats'",
            )
        if key != "else" and key not in map(str, range(_MOST_DIMENSIONS + 1)):
            raise DataError(
                given.places[key],
                "format",
                f"unknown key {quote(key)}; the keys are numbers of dimensions up to "
                f"{_MOST_DIMENSIONS}, and 'else'",
            )
        found[None if key == "else" else int(key)] = name
    return found
