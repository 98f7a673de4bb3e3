"""The syntax of :mod:`dl_core.patterns`: from a text to its parts."""

from __future__ import annotations

import re
from typing import NamedTuple, TypeAlias

_DEEPEST = 50
_MOST_REPEATS = 1000
_CLASSES = {"d": "0123456789", "s": " \t\n\r\f\v"}
_CONTROLS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "v": "\v"}
_COUNT = re.compile(r"\{(\d*)(,?)(\d*)\}", re.ASCII)
_GROUP = re.compile(r"\((?:\?(?::|P<[A-Za-z_]\w{0,60}>))?", re.ASCII)


class PatternError(ValueError):
    """A text is no pattern. The message says why."""


class Set:
    """One character out of several."""

    def __init__(self) -> None:
        self.negated = False
        self._characters: set[str] = set()
        self._ranges: list[tuple[str, str]] = []
        self._classes: list[str] = []

    def add(self, first: str, last: str = "") -> None:
        if last:
            self._ranges.append((first, last))
        else:
            self._characters.add(first)

    def add_class(self, letter: str) -> None:
        self._classes.append(letter)

    def __contains__(self, character: str) -> bool:
        found = (
            character in self._characters
            or any(first <= character <= last for first, last in self._ranges)
            or any(_in_class(letter, character) for letter in self._classes)
        )
        return found != self.negated


class Anchor(NamedTuple):
    """The start or the end of a name."""

    at: str


class Row(NamedTuple):
    """One after another."""

    parts: list[Node]


class Choice(NamedTuple):
    """One of them."""

    parts: list[Node]


class Repeat(NamedTuple):
    """As often as that; None: without an end."""

    part: Node
    least: int
    most: int | None


Node: TypeAlias = Set | Anchor | Row | Choice | Repeat


def parse(text: str) -> Node:
    """:raises PatternError: it is no pattern."""
    parser = _Parser(text)
    node = parser.choice(0)
    if parser.at < len(text):
        raise PatternError(f"a parenthesis is closed at {parser.at} that was not opened")
    return node


def _in_class(letter: str, character: str) -> bool:
    lower = letter.lower()
    if lower == ".":
        return character != "\n"
    if lower == "w":
        found = character.isalnum() or character == "_"
    else:
        found = character in _CLASSES[lower]
    return found != letter.isupper()


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self.at = 0

    def _next(self) -> str:
        return self._text[self.at : self.at + 1]

    def _take(self) -> str:
        character = self._next()
        self.at += 1
        return character

    def choice(self, depth: int) -> Node:
        if depth > _DEEPEST:
            raise PatternError(f"its parentheses are nested deeper than {_DEEPEST}")
        rows = [self._row(depth)]
        while self._next() == "|":
            self.at += 1
            rows.append(self._row(depth))
        return rows[0] if len(rows) == 1 else Choice(rows)

    def _row(self, depth: int) -> Node:
        parts: list[Node] = []
        while self._next() not in ("", "|", ")"):
            parts.append(self._repeated(self._atom(depth)))
        return Row(parts)

    def _repeated(self, part: Node) -> Node:
        bounds = self._bounds()
        if bounds is None:
            return part
        if isinstance(part, Anchor):
            raise PatternError(f"there is nothing to repeat at {self.at}")
        if self._next() == "?":  # lazy, which makes no difference to whether all of it matches
            self.at += 1
        elif self._next() == "+":
            raise PatternError("possessive repeats are not supported")
        if self._bounds() is not None:
            raise PatternError(f"there are two repeats at {self.at}")
        return Repeat(part, *bounds)

    def _bounds(self) -> tuple[int, int | None] | None:
        simple = {"*": (0, None), "+": (1, None), "?": (0, 1)}.get(self._next())
        if simple is not None:
            self.at += 1
            return simple
        found = _COUNT.match(self._text, self.at)
        if found is None or found.group() == "{}":
            return None
        least, comma, most = found.groups()
        self.at = found.end()
        if max(len(least), len(most)) > 9:
            raise PatternError(f"it repeats something more than {_MOST_REPEATS} times")
        first = int(least or 0)
        last = (int(most) if most else None) if comma else first
        if max(first, last or 0) > _MOST_REPEATS:
            raise PatternError(f"it repeats something more than {_MOST_REPEATS} times")
        if last is not None and last < first:
            raise PatternError(f"{found.group()} has its bounds in the wrong order")
        return first, last

    def _atom(self, depth: int) -> Node:
        if self._next() == "(":
            return self._group(depth)
        found, at = Set(), self.at
        character = self._take()
        if character in "^$":
            return Anchor(character)
        if character in "*+?" or (character == "{" and self._is_count(at)):
            raise PatternError(f"there is nothing to repeat at {at}")
        if character == "[":
            return self._set()
        if character == "\\":
            return self._escaped(found)
        if character == ".":
            found.add_class(".")
        else:
            found.add(character)
        return found

    def _is_count(self, at: int) -> bool:
        found = _COUNT.match(self._text, at)
        return found is not None and found.group() != "{}"

    def _group(self, depth: int) -> Node:
        opened = self.at
        found = _GROUP.match(self._text, self.at)
        assert found is not None
        self.at = found.end()
        if self._next() == "?":
            raise PatternError(f"(?{self._text[self.at + 1 : self.at + 2]} is not supported")
        node = self.choice(depth + 1)
        if self._take() != ")":
            raise PatternError(f"the parenthesis at {opened} is not closed")
        return node

    def _escaped(self, found: Set) -> Node:
        character = self._take()
        if character in ("A", "Z"):
            return Anchor("^" if character == "A" else "$")
        self._add_escaped(found, character)
        return found

    def _add_escaped(self, found: Set, character: str) -> str:
        """The character that it stands for; empty for a class."""
        if character and character in "dDsSwW":
            found.add_class(character)
            return ""
        character = _CONTROLS.get(character, character)
        if not character or (character.isascii() and character.isalnum()):
            raise PatternError(f"\\{character} is not supported")
        found.add(character)
        return character

    def _set(self) -> Set:
        found, opened = Set(), self.at - 1
        if self._next() == "^":
            found.negated = True
            self.at += 1
        first = True
        while first or self._next() != "]":
            if not self._next():
                raise PatternError(f"the bracket at {opened} is not closed")
            first = False
            low = self._member(found)
            if self._next() != "-" or self._text[self.at + 1 : self.at + 2] in ("", "]"):
                continue
            self.at += 1
            high = self._member(found)
            if not low or not high or high < low:
                raise PatternError(f"the bracket at {opened} has no proper range")
            found.add(low, high)
        self.at += 1
        return found

    def _member(self, found: Set) -> str:
        character = self._take()
        if character == "\\":
            return self._add_escaped(found, self._take())
        found.add(character)
        return character
