"""Reader of the signature table.

A JSON file maps names to ``{"arguments": [...], "since": ...}``; ``docs/library-format.md`` lists
the keys of an argument.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NoReturn

from diopi_proto.schema import DTYPES

from .inputs import read_text
from .located import DataError, Place, close_names, quote, shorten, unknown_key
from .names import identifier_problem, type_problem
from .signatures import Argument, Function, plain_type

_FUNCTION_KEYS = frozenset(("arguments", "since", "workspace"))
_KEYS = frozenset(
    (
        *("name", "type", "io", "overwritten", "optional", "dtypes", "formats", "strided"),
        *("ndim", "descriptor"),
    )
)
_DIRECTIONS = ("in", "out", "inout")
_LARGEST_FILE = 16_000_000
"""Bytes of a table; the largest one of a real library has 190,000."""
_MOST_ARGUMENTS = 127
"""Positions of arguments are stored in 8 bits."""
_MOST_DIMENSIONS = 64
"""The limit of torch."""
_MOST_DIGITS = 20


def load(file: Path, shown: str | None = None) -> Mapping[str, Function]:
    """Read a signature table.

    :param shown: the path in findings; default: the path itself.
    :raises DataError: the file or an entry is invalid.
    """
    name = shown or str(file)
    short = Path(name).name
    text = read_text(file, name, _LARGEST_FILE)
    try:
        data = json.loads(
            text, object_pairs_hook=_Pairs, parse_int=_integer, parse_constant=_refuse_constant
        )
    except json.JSONDecodeError as error:
        raise DataError(
            Place(name, error.lineno), short, f"is not valid JSON: {error.msg}; correct it"
        ) from error
    except RecursionError as error:
        raise DataError(
            Place(name, 1), short, "is nested too deeply; a table has four levels"
        ) from error
    except ValueError as error:
        raise DataError(Place(name, 1), short, f"is not valid JSON: {error}") from error
    if not isinstance(data, dict):
        raise DataError(
            Place(name, 1), short, "must be an object: names of functions with their entries"
        )
    lines = _lines(text)
    if isinstance(data, _Pairs) and data.repeated is not None:
        raise DataError(
            Place(name, lines.get(data.repeated, 1)),
            shorten(data.repeated) or "functions",
            "occurs twice in this table; remove one",
        )
    return {
        key: _function(key, entry, Place(name, lines.get(key, 1))) for key, entry in data.items()
    }


class _Pairs(dict[str, Any]):
    """An object of JSON, which remembers a key that occurs twice; the last value counts."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.repeated: str | None = None
        seen: set[str] = set()
        for name, _ in pairs if len(self) < len(pairs) else ():
            if name in seen:
                self.repeated = name
                break
            seen.add(name)


def _integer(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise ValueError(f"an integer has {len(digits)} digits; correct it")
    return int(digits)


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a value of JSON; correct it")


def _lines(text: str) -> dict[str, int]:
    """Return the line of each function; its name is the first text of its line."""
    found: dict[str, int] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        first = line.strip().split('"', 2)
        if len(first) > 2 and first[0] == "":
            found.setdefault(first[1], number)
    return found


class _Entry:
    """An object of the table, whose values are read by their types."""

    def __init__(self, value: object, subject: str, where: Place) -> None:
        if not isinstance(value, dict):
            raise DataError(where, subject, f"an object is expected here, not {_describe(value)}")
        self._value = value
        self.subject = subject
        self.where = where

    def error(self, message: str) -> DataError:
        return DataError(self.where, self.subject, message)

    def check_keys(self, allowed: frozenset[str], required: tuple[str, ...]) -> None:
        for key in self._value:
            if key not in allowed:
                raise self.error(unknown_key(key, allowed))
        if isinstance(self._value, _Pairs) and self._value.repeated is not None:
            raise self.error(f"the key {quote(self._value.repeated)} occurs twice; remove one")
        missing = [key for key in required if key not in self._value]
        if missing:
            named = " and ".join(f'"{key}"' for key in required)
            raise self.error(f'needs {named}; add "{missing[0]}"')

    def _typed(self, key: str, type_: type, default: Any, wanted: str) -> Any:
        value = self._value.get(key, default)
        if not isinstance(value, type_):
            raise self.error(
                f"{key} must be {wanted}, not {_describe(value)}; correct or remove it"
            )
        return value

    def text(self, key: str, default: str = "") -> str:
        found: str = self._typed(key, str, default, "a text")
        if key in self._value and not found.strip():
            raise self.error(f"{key} is empty; write a text, or remove it")
        return found

    def flag(self, key: str, default: bool) -> bool:
        return bool(self._typed(key, bool, default, "true or false"))

    def items(self, key: str) -> list[object]:
        found: list[object] = self._typed(key, list, [], "a list")
        return found

    def names(self, key: str, problem: Callable[[str], str]) -> tuple[str, ...]:
        """Return a list of different names, which is not empty."""
        listed = self.items(key)
        if key in self._value and not listed:
            raise self.error(
                f"{key} is empty; list what the library documents, or remove the key if it "
                "documents nothing"
            )
        found: dict[str, None] = {}
        for each in listed:
            if not isinstance(each, str):
                raise self.error(
                    f"{key}: a text is expected here, not {_describe(each)}; correct it"
                )
            reason = problem(each)
            if each in found:
                reason = f"{quote(each)} occurs twice; remove one"
            if reason:
                raise self.error(f"{key}: {reason}")
            found[each] = None
        return tuple(found)

    def dimensions(self) -> tuple[int, int] | None:
        if "ndim" not in self._value:
            return None
        match self._value["ndim"]:
            case [int() as low, int() as high] if (
                not isinstance(low, bool)
                and not isinstance(high, bool)
                and 0 <= low <= high <= _MOST_DIMENSIONS
            ):
                return low, high
        raise self.error(
            f"ndim must be [smallest, largest], two integers from 0 to {_MOST_DIMENSIONS}, not "
            f"{_describe(self._value['ndim'])}"
        )


def _describe(value: object) -> str:
    match value:
        case dict():
            return "an object"
        case list() if any(isinstance(each, list | dict) for each in value):
            return "a list"
        case list():
            return shorten(str(value), 40)
        case str():
            return quote(value, 40)
    return shorten(json.dumps(value), 40)


def _function(name: str, value: object, where: Place) -> Function:
    reason = identifier_problem(name, "the name of a C function")
    entry = _Entry(value, shorten(name) or "functions", where)
    if reason:
        raise entry.error(reason)
    entry.check_keys(_FUNCTION_KEYS, ("arguments",))
    listed = entry.items("arguments")
    if len(listed) > _MOST_ARGUMENTS:
        raise entry.error(
            f"has {len(listed)} arguments, and the limit is {_MOST_ARGUMENTS}; describe it by a "
            "C++ function of the vendor"
        )
    arguments = tuple(
        _argument(name, each, position, where) for position, each in enumerate(listed, start=1)
    )
    seen: set[str] = set()
    for argument in arguments:
        if argument.name in seen:
            raise entry.error(f"two arguments are named {argument.name!r}; rename one")
        seen.add(argument.name)
    for argument in arguments:
        if argument.descriptor and argument.descriptor not in seen:
            hint = close_names(argument.descriptor, seen)
            raise entry.error(
                f"{argument.name}: no argument is named {quote(argument.descriptor)}{hint}; "
                "correct the name, or remove the key 'descriptor'"
            )
    return Function(name, arguments, entry.text("since"), entry.text("workspace"), where.line)


def _dtype_problem(name: str) -> str:
    if name in DTYPES:
        return ""
    return (
        f"{quote(name)} is not a dtype of the contract{close_names(name, DTYPES)}; the dtypes are "
        f"{', '.join(DTYPES)}"
    )


def _argument(function: str, value: object, position: int, where: Place) -> Argument:
    entry = _Entry(value, f"{function}, argument {position}", where)
    name = entry.text("name")
    if name:
        entry.subject = f"{function}, argument {shorten(name)}"
    entry.check_keys(_KEYS, ("name", "type"))
    type_ = plain_type(entry.text("type"))
    reason = identifier_problem(name, "the name of an argument") or type_problem(type_)
    if reason:
        raise entry.error(reason)
    io = entry.text("io", "in")
    if io not in _DIRECTIONS:
        raise entry.error(
            f"io must be one of {', '.join(_DIRECTIONS)}, not {quote(io)}"
            f"{close_names(io, _DIRECTIONS)}"
        )
    return Argument(
        name=name,
        type=type_,
        io=io,
        optional=entry.flag("optional", False),
        dtypes=entry.names("dtypes", _dtype_problem),
        # The check of the library compares them with library.yaml.
        formats=entry.names("formats", lambda _: ""),
        strided=entry.flag("strided", True),
        ndim=entry.dimensions(),
        overwritten=entry.flag("overwritten", False),
        descriptor=entry.text("descriptor"),
    )
