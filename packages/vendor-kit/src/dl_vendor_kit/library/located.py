"""YAML values with their file and line, so that each finding names where it is."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import yaml


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a file; ``column`` is the first character of a value, counted from 0."""

    file: str
    line: int
    column: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class Finding:
    """An error in a data file.

    :ivar where: the file and line.
    :ivar subject: the operator, function or key concerned.
    :ivar message: cause and remedy.
    """

    where: Place
    subject: str
    message: str

    def __str__(self) -> str:
        return f"{self.where}: {self.subject}: {self.message}"


class DataError(Exception):
    """A data file has an error; ``finding`` describes it."""

    def __init__(self, where: Place, subject: str, message: str) -> None:
        self.finding = Finding(where, subject, message)
        super().__init__(str(self.finding))


def close_names(name: str, known: Iterable[str], most: int = 3) -> str:
    """Return the end of a message about an unknown name: similar names, or ""."""
    # difflib counts a letter in another case as a difference, which only decides the order here.
    folded = {each.casefold(): each for each in known}
    found = [folded[each] for each in difflib.get_close_matches(name.casefold(), folded, most)]
    found.sort(key=lambda each: -difflib.SequenceMatcher(None, name, each).ratio())
    return f"; close names: {', '.join(found)}" if found else ""


def unknown_key(key: str, allowed: Iterable[str]) -> str:
    """Return the message about a key that has no meaning."""
    known = sorted(allowed)
    return (
        f"unknown key {key!r}{close_names(key, known)}; correct or remove it; the keys are "
        f"{', '.join(known)}"
    )


Scalar = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Value:
    """A YAML value: a scalar, a list of values, or a mapping of names to values.

    :ivar places: where each key of a mapping is.
    """

    value: Scalar | list[Value] | dict[str, Value]
    where: Place
    places: Mapping[str, Place] = field(default_factory=dict)

    def mapping(self, subject: str, allowed: frozenset[str] | None = None) -> dict[str, Value]:
        """Return the entries of a mapping.

        :param allowed: the known keys; None allows any.
        :raises DataError: this is not a mapping, or it has another key.
        """
        if not isinstance(self.value, dict):
            raise DataError(self.where, subject, "a mapping is expected here")
        for key in self.value:
            if allowed is not None and key not in allowed:
                raise DataError(self.places[key], subject, unknown_key(key, allowed))
        return self.value

    def items(self, subject: str) -> list[Value]:
        """Return the entries of a list; a single value counts as a list of one.

        :raises DataError: this is a mapping.
        """
        if isinstance(self.value, dict):
            raise DataError(self.where, subject, "a list is expected here")
        return self.value if isinstance(self.value, list) else [self]

    def text(self, subject: str) -> str:
        """Return a string; numbers and booleans are converted.

        :raises DataError: this is a list, a mapping or empty.
        """
        if isinstance(self.value, list | dict) or self.value is None:
            raise DataError(self.where, subject, "a text is expected here")
        if isinstance(self.value, bool):
            return "true" if self.value else "false"
        return str(self.value)

    def boolean(self, subject: str) -> bool:
        """Return a boolean.

        :raises DataError: this is not true or false.
        """
        if not isinstance(self.value, bool):
            raise DataError(self.where, subject, "true or false is expected here")
        return self.value

    def integer(self, subject: str) -> int:
        """Return an integer.

        :raises DataError: this is not an integer.
        """
        if isinstance(self.value, bool) or not isinstance(self.value, int):
            raise DataError(self.where, subject, "an integer is expected here")
        return self.value


def read(file: Path, shown: str | None = None) -> Value:
    """Read a YAML file.

    :param shown: the path in findings; default: the path itself.
    :raises DataError: the file cannot be read or is not valid YAML.
    """
    name = shown or str(file)
    try:
        node = yaml.compose(file.read_text(encoding="utf-8"), Loader=yaml.SafeLoader)
    except OSError as error:
        raise DataError(Place(name, 1), name, f"cannot be read: {error.strerror}") from error
    except yaml.MarkedYAMLError as error:
        line = 1 if error.problem_mark is None else error.problem_mark.line + 1
        raise DataError(Place(name, line), name, f"is not valid YAML: {error.problem}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise DataError(Place(name, 1), name, f"is not valid YAML: {error}") from error
    if node is None:
        raise DataError(Place(name, 1), name, "is empty")
    return _convert(node, name, frozenset())


def _convert(node: yaml.Node, file: str, open_nodes: frozenset[int]) -> Value:
    where = Place(file, node.start_mark.line + 1, node.start_mark.column)
    if id(node) in open_nodes:
        raise DataError(where, file, "an alias refers to a value that contains it; write it out")
    inside = open_nodes | {id(node)}
    if isinstance(node, yaml.MappingNode):
        entries: dict[str, Value] = {}
        places: dict[str, Place] = {}
        for key, value in node.value:
            at = Place(file, key.start_mark.line + 1, key.start_mark.column)
            if not isinstance(key, yaml.ScalarNode):
                raise DataError(at, file, "keys must be texts")
            if key.value in entries:
                raise DataError(at, str(key.value), "occurs twice in this mapping; remove one")
            entries[str(key.value)] = _convert(value, file, inside)
            places[str(key.value)] = at
        return Value(entries, where, places)
    if isinstance(node, yaml.SequenceNode):
        return Value([_convert(x, file, inside) for x in node.value], where)
    assert isinstance(node, yaml.ScalarNode)
    if node.style in ("'", '"'):
        # The text begins after the quote.
        return Value(str(node.value), Place(file, where.line, where.column + 1))
    scalar: Scalar = yaml.safe_load(node.value) if node.style is None else node.value
    kept = isinstance(scalar, str | int | float | bool) or scalar is None
    return Value(scalar if kept else str(node.value), where)
