"""Parser of the subset of YAML that adaptor files use: mappings of words, in blocks or in braces.

Hosts do not depend on PyYAML. Every accepted file has the same meaning for any YAML parser; other
YAML constructs are rejected with their line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.*-]*")
_QUOTED = re.compile(r"'([^'\\]*)'|\"([^\"\\]*)\"")
_DEPTH = 16
"""Maximum nesting of mappings; adaptor files have five levels."""
_MOST_KEYS = 20_000
"""Maximum number of keys in a file: a few for each tensor of every operator."""
_LONGEST_WORD = 200
_NOT_READ = {
    "[": "a list",
    "]": "a list",
    "&": "an anchor",
    "*": "an alias",
    "!": "a tag",
    "|": "a text of several lines",
    ">": "a text of several lines",
    "%": "a directive",
    "@": "a reserved character",
    "`": "a reserved character",
}


class MappingError(ValueError):
    """The text is not in the supported subset of YAML.

    :ivar line: line number, from 1.
    """

    def __init__(self, line: int, what: str) -> None:
        super().__init__(what)
        self.line = line


@dataclass
class Entries:
    """A mapping, and the line of each of its keys."""

    line: int
    values: dict[str, Entries | str] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)

    def add(self, line: int, key: str, value: Entries | str) -> None:
        """Add a key.

        :raises MappingError: the key exists already.
        """
        if key in self.values:
            raise MappingError(line, f"the key {key} occurs twice; first on line {self.lines[key]}")
        self.values[key] = value
        self.lines[key] = line


def read_mappings(text: str) -> Entries:
    """Return the mapping that a text describes.

    :raises MappingError: it is not a mapping, uses unsupported syntax, is nested too deeply or has
        too many keys.
    """
    return _Reader(list(_lines(text))).read()


def _lines(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield number, indentation and content of every line that is not empty."""
    for number, raw in enumerate(text.splitlines(), 1):
        content = _without_comment(raw)
        if "\t" in content:
            raise MappingError(number, "the indentation contains a tab; use spaces")
        content = content.rstrip()
        stripped = content.lstrip(" ")
        if not stripped or (content == "---" and number == 1):
            continue
        yield number, len(content) - len(stripped), stripped


def _without_comment(line: str) -> str:
    quote = ""
    for at, character in enumerate(line):
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character == "#" and (at == 0 or line[at - 1] in " \t"):
            return line[:at]
    return line


class _Reader:
    """Parser of the lines of one file, with limits for depth and keys."""

    def __init__(self, lines: list[tuple[int, int, str]]) -> None:
        self._lines = lines
        self._keys = 0

    def read(self) -> Entries:
        lines = self._lines
        top = Entries(lines[0][0] if lines else 1)
        if lines:
            end = self._block(0, lines[0][1], top, 1)
            if end < len(lines):
                raise MappingError(lines[end][0], "this line is indented less than the first key")
        return top

    def _block(self, at: int, indent: int, into: Entries, depth: int) -> int:
        """Parse the keys of one indentation and return the index of the line after them."""
        lines = self._lines
        while at < len(lines):
            number, spaces, content = lines[at]
            if spaces < indent:
                break
            if spaces > indent:
                raise MappingError(
                    number, f"this line is indented by {spaces} spaces; expected {indent}"
                )
            if content == "-" or content.startswith("- "):
                raise MappingError(number, "lists are not supported here; write `key: value`")
            key, end = _word(content, 0, number)
            rest = content[end:].lstrip(" ")
            if not rest.startswith(":") or rest[1:2] not in ("", " "):
                raise MappingError(
                    number, f"{key!r} is not followed by a colon and a space; write `key: value`"
                )
            value = rest[1:].strip()
            at += 1
            if not value:
                nested = self._nested(number, depth)
                if at < len(lines) and lines[at][1] > indent:
                    at = self._block(at, lines[at][1], nested, depth + 1)
                self._add(into, number, key, nested)
                continue
            read, end = self._value(value, 0, number, depth)
            if value[end:].strip():
                raise MappingError(
                    number, f"{_cut(value[end:])} follows the value; write one value per key"
                )
            self._add(into, number, key, read)
        return at

    def _value(self, text: str, at: int, line: int, depth: int) -> tuple[Entries | str, int]:
        if text.startswith("{", at):
            return self._braces(text, at + 1, line, depth)
        return _word(text, at, line)

    def _braces(self, text: str, at: int, line: int, depth: int) -> tuple[Entries, int]:
        """Parse the mapping after an opening brace, up to the closing one."""
        found = self._nested(line, depth)
        at = _skip(text, at)
        while not text.startswith("}", at):
            key, at = _word(text, at, line)
            at = _skip(text, at)
            if not text.startswith(":", at) or text[at + 1 : at + 2] != " ":
                raise MappingError(
                    line, f"{key!r} is not followed by a colon and a space; write {{key: value}}"
                )
            value, at = self._value(text, _skip(text, at + 1), line, depth + 1)
            self._add(found, line, key, value)
            at = _skip(text, at)
            if text.startswith(",", at):
                at = _skip(text, at + 1)
            elif not text.startswith("}", at):
                raise MappingError(line, "braces are not closed on their line")
        return found, at + 1

    def _nested(self, line: int, depth: int) -> Entries:
        if depth >= _DEPTH:
            raise MappingError(line, f"mappings are nested deeper than {_DEPTH} levels")
        return Entries(line)

    def _add(self, into: Entries, line: int, key: str, value: Entries | str) -> None:
        self._keys += 1
        if self._keys > _MOST_KEYS:
            raise MappingError(line, f"the file has more than {_MOST_KEYS:,} keys")
        into.add(line, key, value)


def _skip(text: str, at: int) -> int:
    while text.startswith(" ", at):
        at += 1
    return at


def _word(text: str, at: int, line: int) -> tuple[str, int]:
    """Return a word, quoted or not, and where it ends."""
    quoted = _QUOTED.match(text, at)
    if quoted is not None:
        return _bounded(quoted[1] if quoted[1] is not None else quoted[2], line), quoted.end()
    first = text[at : at + 1]
    if first in _NOT_READ:
        hint = "; quote a name with * in it" if first == "*" else ""
        raise MappingError(line, f"{_NOT_READ[first]} ({first}) is not supported here{hint}")
    plain = _PLAIN.match(text, at)
    if plain is None:
        shown = _cut(text[at:]) if text[at:].strip() else "'nothing'"
        raise MappingError(line, f"found {shown}, expected a word")
    return _bounded(plain[0], line), plain.end()


def _bounded(word: str, line: int) -> str:
    if len(word) > _LONGEST_WORD:
        raise MappingError(line, f"{_cut(word)} is longer than {_LONGEST_WORD} characters")
    return word


def _cut(text: str) -> str:
    """Return text quoted for a message, and truncated."""
    text = text.strip()
    return repr(text if len(text) <= 60 else f"{text[:60]}…")
