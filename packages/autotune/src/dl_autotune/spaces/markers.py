"""Markers in a kernel's source, which show where the values of parameters are inserted.

There are three forms, all at the end of a line, with blanks anywhere:

- ``constexpr int TILE = 8;  // tunable``: the parameter is the last word before the first ``=``,
  and what comes after that sign is replaced by the value;
- ``#define TILE 8  // tunable``: the parameter is the macro, which is defined as the value; for C
  and OpenCL C, whose constants are not constant expressions;
- ``using Layout = RowMajor;  // tunable: LAYOUT``: the parameter is the alias, and the whole line
  after its indent is replaced by the value.

A line that begins with ``//`` is a comment and has no markers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from ..errors import MarkerError
from .parameter import Config, Value

OnRepeat = Callable[[str], object]
_MARKER = re.compile(r"//\s*tunable\s*(?P<colon>:(?P<alias>[^/]*))?$")
_LOOKS_LIKE_ONE = re.compile(r"//.*\btunables?\b", re.IGNORECASE)
_ONE_WORD = re.compile(r"//\s*(\w+)\s*(?::[^/]*)?$")
_MACRO = re.compile(r"\s*#\s*define\s+(\w+)\s")
_ALIKE = 0.8
"""Minimum similarity of a misspelled marker: tuneable, tunabel, tunble."""
_LAST_WORD = re.compile(r"(\w+)\s*(?:\[[^\]]*\]\s*)*$")


@dataclass(frozen=True)
class Marker:
    """A marked line.

    :ivar line: line number, from 1.
    :ivar whole: the value replaces the whole line, not just what follows ``=``.
    """

    key: str
    line: int
    whole: bool


def find_markers(
    source: str, name: str = "kernel", on_repeat: OnRepeat | None = None
) -> list[Marker]:
    """Return the markers of a source text, in order.

    :param name: name of the source in messages.
    :param on_repeat: called with a message for each marker that repeats a key, and is left out;
        None: such a marker is an error.
    :raises MarkerError: a marker is misspelled, names no parameter, is in a block comment, or
    repeats a key; the message has line and key.
    """
    markers: list[Marker] = []
    for number, (line, inside) in enumerate(_lines(source), start=1):
        if line.lstrip().startswith("//"):
            continue
        where = f"{name}:{number}"
        found = _MARKER.search(line.rstrip())
        if found is None:
            if _looks_like_one(line.rstrip()):
                raise MarkerError(
                    f"[markers] {where}: {line.strip()!r} is not a marker; it ends with"
                    " '// tunable' or '// tunable: NAME'"
                )
            continue
        marker = _marker(where, number, line, found)
        if inside:
            raise MarkerError(f"[markers] {where}: key {marker.key} is inside a block comment")
        other = next((each for each in markers if each.key == marker.key), None)
        if other is None:
            markers.append(marker)
            continue
        said = f"[markers] {where}: key {marker.key} is already marked in line {other.line}"
        if on_repeat is None:
            raise MarkerError(said)
        on_repeat(f"{said}; only that line is replaced")
    return markers


def _looks_like_one(line: str) -> bool:
    word = _ONE_WORD.search(line)
    alike = word and SequenceMatcher(None, word[1].lower(), "tunable").ratio() >= _ALIKE
    return bool(alike or _LOOKS_LIKE_ONE.search(line))


def _marker(where: str, number: int, line: str, found: re.Match[str]) -> Marker:
    if found["colon"]:
        alias = found["alias"].strip()
        if not alias.isidentifier():
            raise MarkerError(f"[markers] {where}: key {alias!r} is not a name")
        return Marker(alias, number, whole=True)
    if macro := _MACRO.match(line):
        return Marker(macro[1], number, whole=False)
    before, sign, _ = line[: found.start()].partition("=")
    word = _LAST_WORD.search(before.rstrip())
    if not sign or word is None or not word[1].isidentifier():
        raise MarkerError(
            f"[markers] {where}: {line.strip()!r} has no 'NAME = value' or '#define NAME value' for"
            " '// tunable' to name a key; use '// tunable: NAME' to replace the whole line"
        )
    return Marker(word[1], number, whole=False)


def substitute(
    source: str,
    config: Config,
    name: str = "kernel",
    *,
    keep_markers: bool = False,
    every: bool = True,
    on_repeat: OnRepeat | None = None,
) -> str:
    """Return the source with the values of a configuration at its markers.

    :param keep_markers: keep the markers, so that the result can be tuned again.
    :param every: require a value for each marker; otherwise lines without one stay unchanged.
    :param on_repeat: see :func:`find_markers`.
    :raises MarkerError: a key has no marker, a marker has no key, or a marker is wrong.
    """
    found = find_markers(source, name, on_repeat)
    markers = [m for m in found if every or m.key in config]
    check_keys(markers, list(config), name)
    lines = source.split("\n")
    for marker in markers:
        old = lines[marker.line - 1]
        indent = old[: len(old) - len(old.lstrip())]
        value = _literal(config[marker.key])
        if "\n" in value or "\r" in value:
            raise MarkerError(
                f"[markers] {name}:{marker.line}: the value of key {marker.key} has a line break"
            )
        new = f"{old.partition('=')[0]}= {value};"
        if marker.whole:
            new = indent + value
        elif _MACRO.match(old):
            new = f"{indent}#define {marker.key} {value}"
        if keep_markers:
            new += f"  // tunable: {marker.key}" if marker.whole else "  // tunable"
        lines[marker.line - 1] = new
    return "\n".join(lines)


def check_keys(markers: Sequence[Marker], keys: Sequence[str], name: str = "kernel") -> None:
    """Check that each marker has a parameter and each parameter a marker.

    :raises MarkerError: a marker or a parameter has no counterpart.
    """
    marked = {marker.key: marker for marker in markers}
    for key in keys:
        if key not in marked:
            there = ", ".join(f"{m.key} (line {m.line})" for m in markers) or "none"
            raise MarkerError(
                f"[markers] {name}: key {key} has no marker in the source; marked are: {there}"
            )
    for marker in markers:
        if marker.key not in keys:
            raise MarkerError(
                f"[markers] {name}:{marker.line}: key {marker.key} is marked, but not a "
                f"parameter; available: {', '.join(keys)}"
            )


def _literal(value: Value) -> str:
    """Format a value for C++; texts are inserted unchanged."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _lines(source: str) -> list[tuple[str, bool]]:
    """Return each line, and True if its end is inside a block comment."""
    found, inside = [], False
    for line in source.split("\n"):
        rest = line
        while rest:
            if inside:
                _, closed, rest = rest.partition("*/")
                inside = not closed
                continue
            opened, closed_line = rest.find("/*"), rest.find("//")
            if opened < 0 or 0 <= closed_line < opened:
                break
            inside, rest = True, rest[opened + 2 :]
        found.append((line, inside))
    return found
