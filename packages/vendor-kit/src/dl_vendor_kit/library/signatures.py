"""The signature table: the functions of an operator library, with the facts that are documented.

A JSON file maps names to ``{"arguments": [...], "since": ...}``; ``docs/library-format.md`` lists
the keys of an argument.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from diopi_proto.schema import DTYPES

from .located import DataError, Place, close_names, unknown_key

_FUNCTION_KEYS = frozenset(("arguments", "since", "workspace"))
_KEYS = frozenset(
    (
        *("name", "type", "io", "overwritten", "optional", "dtypes", "formats", "strided"),
        *("ndim", "descriptor"),
    )
)
_DIRECTIONS = ("in", "out", "inout")


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a library's function.

    :ivar type: its true C type, without a const that is not part of the function's type.
    :ivar io: ``in``, ``out`` or ``inout``: what the function does with a tensor's elements.
    :ivar overwritten: the old elements of an ``inout`` tensor do not affect the result.
    :ivar optional: NULL is allowed.
    :ivar dtypes: documented dtypes; empty if undocumented.
    :ivar formats: documented memory formats; empty if undocumented.
    :ivar strided: False if only contiguous tensors are documented.
    :ivar ndim: smallest and largest number of dimensions; None if undocumented.
    :ivar descriptor: name of the argument that describes a pointer; empty: the argument before it.
    """

    name: str
    type: str
    io: str = "in"
    optional: bool = False
    dtypes: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()
    strided: bool = True
    ndim: tuple[int, int] | None = None
    overwritten: bool = False
    descriptor: str = ""

    @property
    def reads(self) -> bool:
        """Return True if the function gets the tensor as an input."""
        return self.io != "out"

    @property
    def needs_elements(self) -> bool:
        """Return True if the result depends on the elements."""
        return self.reads and not self.overwritten

    @property
    def writes(self) -> bool:
        """Return True if the function writes the elements."""
        return self.io != "in"


@dataclass(frozen=True, slots=True)
class Function:
    """One function of a library: its arguments in order.

    :ivar since: the release that added it; empty if all supported releases have it.
    :ivar workspace: the function that returns the size of its workspace; empty: none.
    :ivar line: its line in the table.
    """

    name: str
    arguments: tuple[Argument, ...]
    since: str = ""
    workspace: str = ""
    line: int = 1

    def find(self, name: str) -> int | None:
        """Return the position of an argument; None if no argument has this name."""
        return next((i for i, a in enumerate(self.arguments) if a.name == name), None)


def plain_type(text: str) -> str:
    """Return a C type without a top-level const and with uniform spaces."""
    words = " ".join(text.replace("*", " * ").split()).replace(" *", "*")
    return words if words.endswith("*") else words.removeprefix("const ")


def load(file: Path, shown: str | None = None) -> Mapping[str, Function]:
    """Read a signature table.

    :param shown: the path in findings; default: the path itself.
    :raises DataError: the file or an entry is invalid.
    """
    name = shown or str(file)
    try:
        text = file.read_text(encoding="utf-8")
        data = json.loads(text, object_pairs_hook=_Pairs)
    except OSError as error:
        raise DataError(Place(name, 1), name, f"cannot be read: {error.strerror}") from error
    except json.JSONDecodeError as error:
        raise DataError(
            Place(name, error.lineno), name, f"is not valid JSON: {error.msg}"
        ) from error
    if not isinstance(data, dict):
        raise DataError(Place(name, 1), name, "must be an object: names of functions to entries")
    lines = _lines(text)
    if isinstance(data, _Pairs) and data.repeated:
        raise DataError(
            Place(name, lines.get(data.repeated, 1)),
            data.repeated,
            "occurs twice in this table; remove one",
        )
    return {
        key: _function(key, entry, Place(name, lines.get(key, 1))) for key, entry in data.items()
    }


class _Pairs(dict[str, Any]):
    """An object of JSON, which remembers a key that occurs twice; the last value counts."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        names = [name for name, _ in pairs]
        self.repeated = next((x for x in names if names.count(x) > 1), "")


def _lines(text: str) -> dict[str, int]:
    """Return the line of each function; its name is the first text of its line."""
    found: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        first = line.strip().split('"')
        if len(first) > 2 and first[0] == "":
            found.setdefault(first[1], number)
    return found


def _function(name: str, entry: object, where: Place) -> Function:
    if not name.isidentifier():
        raise DataError(where, name, "is not the name of a C function")
    if not isinstance(entry, dict) or not isinstance(entry.get("arguments"), list):
        raise DataError(where, name, 'must be an object with a list "arguments"')
    _check_keys(entry, _FUNCTION_KEYS, where, name)
    arguments = tuple(_argument(name, each, where) for each in entry["arguments"])
    seen: set[str] = set()
    for argument in arguments:
        if argument.name in seen:
            raise DataError(where, name, f"two arguments are named {argument.name!r}")
        seen.add(argument.name)
    for argument in arguments:
        if argument.descriptor and argument.descriptor not in seen:
            hint = close_names(argument.descriptor, seen)
            raise DataError(
                where,
                name,
                f"{argument.name}: no argument is named {argument.descriptor!r}{hint}",
            )
    since, workspace = str(entry.get("since", "")), str(entry.get("workspace", ""))
    return Function(name, arguments, since, workspace, where.line)


def _check_keys(
    entry: Mapping[str, object], allowed: frozenset[str], where: Place, subject: str
) -> None:
    for key in entry:
        if key not in allowed:
            raise DataError(where, subject, unknown_key(key, allowed))
    if isinstance(entry, _Pairs) and entry.repeated:
        raise DataError(where, subject, f"the key {entry.repeated!r} occurs twice; remove one")


def _argument(function: str, entry: object, where: Place) -> Argument:
    if not isinstance(entry, dict) or not {"name", "type"} <= set(entry):
        raise DataError(where, function, 'each argument needs "name" and "type"')
    subject = f"{function}, argument {entry['name']}"
    _check_keys(entry, _KEYS, where, subject)
    for key in ("optional", "strided", "overwritten"):
        if not isinstance(entry.get(key, False), bool):
            raise DataError(where, subject, f"{key} must be true or false")
    for key in ("dtypes", "formats"):
        if not isinstance(entry.get(key, []), list):
            raise DataError(where, subject, f"{key} must be a list")
    if entry.get("io", "in") not in _DIRECTIONS:
        raise DataError(where, subject, f"io must be one of {', '.join(_DIRECTIONS)}")
    dtypes = tuple(entry.get("dtypes", ()))
    for dtype in dtypes:
        if dtype not in DTYPES:
            hint = close_names(str(dtype), DTYPES)
            raise DataError(where, subject, f"{dtype!r} is not a dtype of the contract{hint}")
    ndim = entry.get("ndim")
    if ndim is not None and not (
        isinstance(ndim, list) and len(ndim) == 2 and 0 <= ndim[0] <= ndim[1]
    ):
        raise DataError(where, subject, "ndim must be [smallest, largest]")
    return Argument(
        name=str(entry["name"]),
        type=plain_type(str(entry["type"])),
        io=entry.get("io", "in"),
        optional=bool(entry.get("optional", False)),
        dtypes=dtypes,
        formats=tuple(entry.get("formats", ())),
        strided=bool(entry.get("strided", True)),
        ndim=None if ndim is None else (ndim[0], ndim[1]),
        overwritten=bool(entry.get("overwritten", False)),
        descriptor=str(entry.get("descriptor", "")),
    )
