"""Reader of ``library.yaml``, which checks its form."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from diopi_proto.schema import DTYPES

from . import signatures
from .helpers import HELPERS, KINDS, VIEWS, Helper
from .located import DataError, Value, close_names, read
from .model import SHAPES, TYPE_KINDS, Library

OUTPUTS = ("sources", "page", "fake", "functions")
_KEYS = frozenset(
    (
        *("name", "shape", "open", "signatures", "vendor", "types", "dtypes", "formats"),
        *("defaults", "copy", "helpers", "outputs", "namespace", "headers", "stream", "executor"),
        *("declarations", "header", "status"),
    )
)
_HELPER_KEYS = frozenset(("takes", "returns", "function", "context", "doc"))
_MOST_DIMENSIONS = 8


def read_library(folder: Path, shown: str) -> Library:
    """Read ``library.yaml`` and the signature table of a folder.

    :param shown: the path of the folder in findings.
    :raises DataError: one of the files is invalid.
    """
    root = read(folder / "library.yaml", f"{shown}/library.yaml")
    subject = "library.yaml"
    keys = root.mapping(subject, _KEYS)

    def text(key: str, default: str | None = None) -> str:
        if key in keys:
            return keys[key].text(key)
        if default is None:
            raise DataError(root.where, subject, f"the key {key!r} is missing")
        return default

    def texts(key: str) -> tuple[str, ...]:
        return tuple(x.text(key) for x in keys[key].items(key)) if key in keys else ()

    shape = text("shape")
    if shape not in SHAPES:
        hint = close_names(shape, SHAPES)
        raise DataError(keys["shape"].where, "shape", f"must be one of {', '.join(SHAPES)}{hint}")
    formats = _numbers("formats", keys.get("formats"))
    vendor = (
        keys["vendor"].mapping("vendor", frozenset(("class", "header"))) if "vendor" in keys else {}
    )
    outputs = keys["outputs"].mapping("outputs", frozenset(OUTPUTS)) if "outputs" in keys else {}
    table_file = folder / text("signatures", "signatures.json")
    functions = signatures.load(table_file, f"{shown}/{table_file.name}")
    copy = text("copy", "")
    if copy and copy not in functions:
        raise DataError(
            keys["copy"].where,
            "copy",
            f"{copy} is not in the signature table{close_names(copy, functions)}; correct the "
            f"name, or add the function to {table_file.name}",
        )
    return Library(
        folder=folder,
        shown=shown,
        where=root.where,
        name=text("name"),
        shape=shape,
        opened=texts("open"),
        types=_types(keys.get("types")),
        dtypes=_dtypes(keys.get("dtypes")),
        formats=formats,
        format_by_rank=_formats(keys.get("defaults"), formats),
        copy=copy,
        helpers={**VIEWS, **HELPERS, **_own_helpers(keys.get("helpers"))},
        vendor_class=vendor["class"].text("class") if "class" in vendor else "Vendor",
        vendor_header=vendor["header"].text("header") if "header" in vendor else "vendor.h",
        headers=texts("headers"),
        declarations=texts("declarations"),
        header=text("header", ""),
        status=signatures.plain_type(text("status", "int")),
        # Generated files must not depend on the folder from which the generator runs.
        table=f"{folder.resolve().name}/{table_file.name}",
        namespace=text("namespace", text("name")),
        stream=text("stream", "void*"),
        executor=text("executor", "void"),
        outputs={key: value.text("outputs") for key, value in outputs.items()},
        functions=functions,
    )


def _types(given: Value | None) -> dict[str, str]:
    found: dict[str, str] = {}
    if given is None:
        return found
    for name, value in given.mapping("types").items():
        type_, kind = signatures.plain_type(name), value.text("types")
        where = given.places[name]
        if kind not in TYPE_KINDS:
            raise DataError(
                where,
                f"types, {type_}",
                f"{kind!r} is not one of {', '.join(sorted(TYPE_KINDS))}"
                f"{close_names(kind, TYPE_KINDS)}",
            )
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
        number = value.integer(subject)
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
    return f"{name!r} is not a dtype{close_names(name, DTYPES)}; the dtypes are {', '.join(DTYPES)}"


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
                f"{name!r} is not in the table of formats{close_names(name, formats)}; correct the "
                "name, or add it to 'formats'",
            )
        if key != "else" and not (key.isdecimal() and int(key) <= _MOST_DIMENSIONS):
            raise DataError(
                given.places[key],
                "format",
                f"unknown key {key!r}; the keys are numbers of dimensions up to "
                f"{_MOST_DIMENSIONS}, and 'else'",
            )
        found[None if key == "else" else int(key)] = name
    return found


def _own_helpers(given: Value | None) -> dict[str, Helper]:
    found: dict[str, Helper] = {}
    for name, value in ({} if given is None else given.mapping("helpers")).items():
        subject = f"helper @{name}"
        keys = value.mapping(subject, _HELPER_KEYS)
        if "returns" not in keys or "function" not in keys:
            raise DataError(value.where, subject, "needs 'returns' and 'function'")
        takes = keys["takes"].items(subject) if "takes" in keys else []
        for each in (*takes, keys["returns"]):
            kind = each.text(subject)
            if kind.rstrip("?*&") not in KINDS:
                raise DataError(
                    each.where,
                    subject,
                    f"{kind!r} is not a kind of value{close_names(kind, KINDS)}; the kinds are "
                    f"{', '.join(sorted(KINDS))}",
                )
        found[name] = Helper(
            tuple(x.text(subject) for x in takes),
            keys["returns"].text(subject),
            keys["function"].text(subject),
            "context" in keys and keys["context"].boolean(subject),
            keys["doc"].text(subject) if "doc" in keys else "",
        )
    return found
