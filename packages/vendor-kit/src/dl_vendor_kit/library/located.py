"""Places in data files, findings about them, and values with their places."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from diopi_proto.text import printable

LONGEST_TEXT = 4096
"""Longest text of a value in characters; the longest expression of a real library has 304."""
MOST_FINDINGS = 200
"""Findings after which the rest of a description is not checked: the search for close names takes
long if no name is right."""
_LONGEST_NAME = 100
"""Longest name for which similar names are searched."""


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a file; ``column`` is the first character of a value, counted from 0."""

    file: str
    line: int
    column: int = 0

    def __str__(self) -> str:
        return f"{printable(self.file)}:{self.line}"


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
        return f"{self.where}: {shorten(self.subject, 160)}: {printable(self.message)}"


class DataError(Exception):
    """A data file has an error; ``finding`` describes it."""

    def __init__(self, where: Place, subject: str, message: str) -> None:
        self.finding = Finding(where, subject, message)
        super().__init__(str(self.finding))


def shorten(text: str, longest: int = 80) -> str:
    """Return a text for a message: one line, with at most ``longest`` characters of the text."""
    return printable(text, longest)


def quote(text: str, longest: int = 80) -> str:
    """Return a text in quotes for a message."""
    shown = shorten(text, longest)
    return f'"{shown}"' if "'" in shown and '"' not in shown else f"'{shown}'"


def close_names(name: str, known: Iterable[str], most: int = 3) -> str:
    """Return the end of a message about an unknown name: similar names, or ""."""
    # The time of the search grows with the square of the length.
    if len(name) > _LONGEST_NAME:
        return ""
    # difflib counts a letter in another case as a difference, which only decides the order here.
    folded = {each.casefold(): each for each in known}
    found = [folded[each] for each in difflib.get_close_matches(name.casefold(), folded, most)]
    found.sort(key=lambda each: -difflib.SequenceMatcher(None, name, each).ratio())
    return f"; close names: {', '.join(found)}" if found else ""


def unknown_key(key: str, allowed: Iterable[str]) -> str:
    """Return the message about a key that has no meaning."""
    known = sorted(allowed)
    return (
        f"unknown key {quote(key)}{close_names(key, known)}; correct or remove it; the keys are "
        f"{', '.join(known)}"
    )


Scalar = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Value:
    """A YAML value: a scalar, a list of values, or a mapping of names to values.

    :ivar places: where each key of a mapping is.
    :ivar raw: the text of a scalar, as it is written.
    """

    value: Scalar | list[Value] | dict[str, Value]
    where: Place
    places: Mapping[str, Place] = field(default_factory=dict)
    raw: str = ""

    def __str__(self) -> str:
        """Return a description for messages."""
        if isinstance(self.value, dict):
            return "a mapping"
        if isinstance(self.value, list):
            return "a list"
        return "nothing" if self.value is None else quote(self.raw, 40)

    def mapping(self, subject: str, allowed: frozenset[str] | None = None) -> dict[str, Value]:
        """Return the entries of a mapping.

        :param allowed: the known keys; None allows any.
        :raises DataError: this is not a mapping, or it has another key.
        """
        if not isinstance(self.value, dict):
            keys = "" if allowed is None else f" with the keys {', '.join(sorted(allowed))}"
            raise DataError(
                self.where, subject, f"a mapping is expected here, not {self}; write one{keys}"
            )
        for key in self.value:
            if allowed is not None and key not in allowed:
                raise DataError(self.places[key], subject, unknown_key(key, allowed))
        return self.value

    def items(self, subject: str) -> list[Value]:
        """Return the entries of a list; a single value counts as a list of one.

        :raises DataError: this is a mapping.
        """
        if isinstance(self.value, dict):
            raise DataError(
                self.where, subject, "a list is expected here, not a mapping; write [a, b]"
            )
        return self.value if isinstance(self.value, list) else [self]

    def text(self, subject: str) -> str:
        """Return a text, such as a name.

        :raises DataError: this is something else, empty, or too long.
        """
        if self.value is not None and not isinstance(self.value, str | list | dict):
            raise DataError(
                self.where,
                subject,
                f"a text is expected here, not {self}; correct it, or write it in quotes",
            )
        return self.expression(subject)

    def expression(self, subject: str) -> str:
        """Return the text of an expression, which may be a number or a boolean.

        :raises DataError: this is something else, empty, or too long.
        """
        if isinstance(self.value, list | dict):
            raise DataError(
                self.where, subject, f"a text is expected here, not {self}; write one value"
            )
        if self.value is None or not self.raw.strip():
            raise DataError(
                self.where, subject, "the value is empty; write a text, or remove the key"
            )
        if len(self.raw) > LONGEST_TEXT:
            raise DataError(
                self.where,
                subject,
                f"the text has {len(self.raw)} characters, and the limit is {LONGEST_TEXT}; "
                "divide it",
            )
        return self.raw

    def boolean(self, subject: str) -> bool:
        """Return a boolean.

        :raises DataError: this is not true or false.
        """
        if not isinstance(self.value, bool):
            raise DataError(
                self.where, subject, f"true or false is expected here, not {self}; write one"
            )
        return self.value

    def integer(self, subject: str) -> int:
        """Return an integer.

        :raises DataError: this is not an integer of at most 64 bits.
        """
        if isinstance(self.value, bool) or not isinstance(self.value, int):
            raise DataError(
                self.where,
                subject,
                f"an integer is expected here, not {self}; write one of at most 64 bits, as 16 or "
                "0x10",
            )
        return self.value
