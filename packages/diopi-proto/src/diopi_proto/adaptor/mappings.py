"""The part of YAML that an adaptor file is written in: mappings, in blocks and in braces, of words.

PyYAML is no dependency of a host. Every file that this reads means the same to any reader of YAML;
what is left out is refused, with its line, and not misread.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.*-]*")
_QUOTED = re.compile(r"'([^'\\]*)'|\"([^\"\\]*)\"")
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
    """The text is not what this reads.

    :ivar line: where, from 1 on.
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
        """:raises MappingError: the key is there already."""
        if key in self.values:
            raise MappingError(line, f"{key} is there twice; it was first on {self.lines[key]}")
        self.values[key] = value
        self.lines[key] = line


def read_mappings(text: str) -> Entries:
    """The mapping that a text is.

    :raises MappingError: it is something else, or uses what this does not read.
    """
    lines = list(_lines(text))
    top = Entries(lines[0][0] if lines else 1)
    if lines:
        end = _block(lines, 0, lines[0][1], top)
        if end < len(lines):
            raise MappingError(lines[end][0], "it is indented less than the first key")
    return top


def _lines(text: str) -> Iterator[tuple[int, int, str]]:
    """Number, indentation and content of every line that has content."""
    for number, raw in enumerate(text.splitlines(), 1):
        content = _without_comment(raw)
        if "\t" in content:
            raise MappingError(number, "there is a tab; YAML is indented by spaces")
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


def _block(lines: list[tuple[int, int, str]], at: int, indent: int, into: Entries) -> int:
    """Read the keys of one indentation; returns the line after them."""
    while at < len(lines):
        number, depth, content = lines[at]
        if depth < indent:
            break
        if depth > indent:
            raise MappingError(number, f"it is indented by {depth} spaces, not by {indent}")
        if content == "-" or content.startswith("- "):
            raise MappingError(number, "a list has no meaning here; write `key: value`")
        key, end = _word(content, 0, number)
        rest = content[end:].lstrip(" ")
        if not rest.startswith(":") or rest[1:2] not in ("", " "):
            raise MappingError(number, f"after {key!r} there is no colon and space: `key: value`")
        value = rest[1:].strip()
        at += 1
        if not value:
            deeper = at < len(lines) and lines[at][1] > indent
            nested = Entries(number)
            if deeper:
                at = _block(lines, at, lines[at][1], nested)
            into.add(number, key, nested)
            continue
        read, end = _value(value, 0, number)
        if value[end:].strip():
            raise MappingError(number, f"{value[end:].strip()!r} is left over after the value")
        into.add(number, key, read)
    return at


def _value(text: str, at: int, line: int) -> tuple[Entries | str, int]:
    if text.startswith("{", at):
        return _braces(text, at + 1, line)
    return _word(text, at, line)


def _braces(text: str, at: int, line: int) -> tuple[Entries, int]:
    """What stands after an opening brace, up to the closing one."""
    found = Entries(line)
    at = _skip(text, at)
    while not text.startswith("}", at):
        key, at = _word(text, at, line)
        at = _skip(text, at)
        if not text.startswith(":", at) or text[at + 1 : at + 2] != " ":
            raise MappingError(line, f"after {key!r} there is no colon and space: {{key: value}}")
        value, at = _value(text, _skip(text, at + 1), line)
        found.add(line, key, value)
        at = _skip(text, at)
        if text.startswith(",", at):
            at = _skip(text, at + 1)
        elif not text.startswith("}", at):
            raise MappingError(line, "braces are not closed on their line")
    return found, at + 1


def _skip(text: str, at: int) -> int:
    while text.startswith(" ", at):
        at += 1
    return at


def _word(text: str, at: int, line: int) -> tuple[str, int]:
    """A word, quoted or not, and where it ends."""
    quoted = _QUOTED.match(text, at)
    if quoted is not None:
        return quoted[1] if quoted[1] is not None else quoted[2], quoted.end()
    first = text[at : at + 1]
    if first in _NOT_READ:
        hint = "; quote a name with * in it" if first == "*" else ""
        raise MappingError(line, f"{_NOT_READ[first]} ({first}) has no meaning here{hint}")
    plain = _PLAIN.match(text, at)
    if plain is None:
        shown = text[at:].strip() or "nothing"
        raise MappingError(line, f"{shown!r} is there where a word is expected")
    return plain[0], plain.end()
