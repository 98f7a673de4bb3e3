"""From the text of an adaptor file to its rules. Every error names file, line and way out."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NoReturn

from ..errors import AdaptorError
from ..foreign_file import read_regular_text
from ..schema import DTYPES, Operator, load
from .mappings import Entries, MappingError, read_mappings
from .rules import (
    BASIC,
    KINDS,
    LAYOUTS,
    AdaptorFile,
    Rule,
    adaptable_operators,
    possible_dtypes,
    tensors_of,
)

VERSION = "1"
_LONGEST = 1 << 20
"""Bytes of a file that adapts every tensor of every operator, several times over."""
_MOST_PATTERNS = 200
"""Each is matched with all operators."""
_TOP = ("version", "overflow", "all", "operators")
_ALL = ("cast", "layout", "wrap")
_OPERATOR = (*_ALL, "parameters")
_PARAMETER = ("cast", "layout", "wrap")
_OVERFLOW = ("host", "vendor")


@dataclass(frozen=True)
class _Asked:
    """What one place of a file asks for; None where it leaves that to others."""

    cast: Mapping[str, str] = field(default_factory=dict)
    layout: str | None = None
    wrap: bool | None = None

    def under(self, nearer: _Asked) -> _Asked:
        """This with what a nearer place asks for in front."""
        return _Asked(
            {**self.cast, **nearer.cast},
            self.layout if nearer.layout is None else nearer.layout,
            self.wrap if nearer.wrap is None else nearer.wrap,
        )


def read_adaptor(path: str | Path) -> AdaptorFile:
    """Read an adaptor file and check it against the schema.

    :raises AdaptorError: it is not there, or says something that cannot be.
    """
    path = Path(path)
    try:
        text = read_regular_text(path, _LONGEST)
    except (OSError, UnicodeDecodeError) as error:
        raise AdaptorError(f"{path}: the adaptor file cannot be read: {error}") from None
    try:
        entries = read_mappings(text)
    except MappingError as problem:
        raise AdaptorError(f"{path}:{problem.line}: {problem}") from None
    return _Reader(path).read(entries)


class _Reader:
    def __init__(self, path: Path) -> None:
        self.path = path

    def fail(self, line: int, what: str) -> NoReturn:
        """:raises AdaptorError: always."""
        raise AdaptorError(f"{self.path}:{line}: {what}")

    def read(self, top: Entries) -> AdaptorFile:
        self.known(top, _TOP, "")
        if "version" not in top.values:
            self.fail(
                top.line, f"`version: {VERSION}` is missing: the format that it is written in"
            )
        version = self.word(top, "version", "")
        if version != VERSION:
            self.fail(
                top.lines["version"],
                f"version: this dl-diopi-proto reads version {VERSION}, not {version}; install one "
                "that belongs to the vendor's wheel",
            )
        overflow = "host"
        if "overflow" in top.values:
            overflow = self.one_of(top, "overflow", _OVERFLOW, "")
        asked: dict[str, dict[str, _Asked]] = {}
        if "all" in top.values:
            place = self.mapping(top, "all", "")
            self.known(place, _ALL, "all.")
            self.used(place, adaptable_operators(), "all")
            common = self.asked(place, "all.")
            for name in adaptable_operators():
                asked[name] = {p.name: common for p in tensors_of(load()[name])}
        if "operators" in top.values:
            place = self.mapping(top, "operators", "")
            for key, names in self.names(place):
                self.operator(place, key, names, asked)
        rules = {n: self.rules(load()[n], asked[n]) for n in load() if n in asked}
        return AdaptorFile(self.path, {n: r for n, r in rules.items() if r}, overflow == "vendor")

    def names(self, place: Entries) -> list[tuple[str, list[str]]]:
        """Keys with the operators that they mean, patterns first: a whole name goes before."""
        found = []
        patterns = [key for key in place.values if any(c in key for c in "*?[")]
        if len(patterns) > _MOST_PATTERNS:
            line = place.lines[patterns[_MOST_PATTERNS]]
            self.fail(line, f"operators: there are more than {_MOST_PATTERNS} patterns")
        for key in place.values:
            line = place.lines[key]
            if key in BASIC:
                self.fail(line, f"operators.{key}: adaptors are made of it, and cannot adapt it")
            if key in patterns:
                names = [n for n in adaptable_operators() if fnmatchcase(n, key)]
                if not names:
                    self.fail(line, f"operators.{key}: no operator of the contract has such a name")
            elif key not in load():
                near = _near(key, load())
                self.fail(line, f"operators.{key}: the contract has no such operator{near}")
            elif key not in adaptable_operators():
                self.fail(line, f"operators.{key}: it has no dense tensors, which could be adapted")
            else:
                names = [key]
            found.append((key, names))
        return sorted(found, key=lambda one: one[1] == [one[0]])

    def operator(
        self, place: Entries, key: str, names: list[str], asked: dict[str, dict[str, _Asked]]
    ) -> None:
        at = f"operators.{key}."
        entries = self.mapping(place, key, "operators.")
        self.known(entries, _OPERATOR, at)
        self.used(entries, names, at.rstrip("."))
        own = self.asked(entries, at)
        parameters: dict[str, _Asked] = {}
        if "parameters" in entries.values:
            inner = self.mapping(entries, "parameters", at)
            for name in inner.values:
                parameters[name] = self.parameter(inner, name, names, f"{at}parameters.")
        for operator in names:
            before = asked.setdefault(operator, {})
            for parameter in tensors_of(load()[operator]):
                nearer = own.under(parameters.get(parameter.name, _Asked()))
                before[parameter.name] = before.get(parameter.name, _Asked()).under(nearer)

    def parameter(self, place: Entries, name: str, operators: list[str], at: str) -> _Asked:
        having = [n for n in operators if name in {p.name for p in tensors_of(load()[n])}]
        if not having:
            known = {p.name: None for n in operators for p in tensors_of(load()[n])}
            near = _near(name, known) or f"; its tensors are {', '.join(known)}"
            self.fail(place.lines[name], f"{at}{name}: there is no such tensor{near}")
        entries = self.mapping(place, name, at)
        self.known(entries, _PARAMETER, f"{at}{name}.")
        asked = self.asked(entries, f"{at}{name}.")
        for source in asked.cast:
            possible = {
                d for n in having for d in possible_dtypes(load()[n], load()[n].parameter(name))
            }
            if source not in possible:
                allowed = ", ".join(d for d in DTYPES if d in possible)
                self.fail(
                    _cast_line(entries, source),
                    f"{at}{name}.cast.{source}: this tensor is never {source}, but {allowed}",
                )
        return asked

    def used(self, entries: Entries, operators: Iterable[str], at: str) -> None:
        """Every cast has a tensor that it can be for."""
        cast = entries.values.get("cast")
        if not isinstance(cast, Entries):
            return
        possible = {
            dtype
            for name in operators
            for parameter in tensors_of(load()[name])
            for dtype in possible_dtypes(load()[name], parameter)
        }
        for source in cast.values:
            if source in DTYPES and source not in possible:
                allowed = ", ".join(d for d in DTYPES if d in possible)
                self.fail(
                    cast.lines[source],
                    f"{at}.cast.{source}: no tensor is ever {source} there; {allowed} are possible",
                )

    def asked(self, entries: Entries, at: str) -> _Asked:
        layout = self.one_of(entries, "layout", LAYOUTS, at) if "layout" in entries.values else None
        wrap = None
        if "wrap" in entries.values:
            wrap = self.one_of(entries, "wrap", ("true", "false"), at) == "true"
        if "cast" not in entries.values:
            return _Asked({}, layout, wrap)
        cast = self.mapping(entries, "cast", at)
        return _Asked({s: self.target(cast, s, f"{at}cast.") for s in cast.values}, layout, wrap)

    def target(self, cast: Entries, source: str, at: str) -> str:
        target = self.word(cast, source, at)
        for dtype in (source, target):
            if dtype not in DTYPES:
                near = _near(dtype, DTYPES) or f"; there are {', '.join(DTYPES)}"
                self.fail(cast.lines[source], f"{at}{source}: {dtype} is no dtype{near}")
        kind = next((name for name, dtypes in KINDS.items() if source in dtypes), "")
        if source != target and (target not in KINDS.get(kind, ()) or target == "bool"):
            other = ", ".join(d for d in KINDS.get(kind, ()) if d not in (source, "bool"))
            self.fail(
                cast.lines[source],
                f"{at}{source}: {target} means other numbers than {source}: "
                + (f"{source} can become {other}" if other else "it cannot be cast"),
            )
        return target

    def rules(self, operator: Operator, asked: Mapping[str, _Asked]) -> dict[str, Rule]:
        """The rules that change something."""
        found = {}
        for parameter in tensors_of(operator):
            one = asked.get(parameter.name, _Asked())
            possible = possible_dtypes(operator, parameter)
            cast = {s: t for s, t in one.cast.items() if s != t and s in possible}
            layout = one.layout or "any"
            if parameter.allocated_by == "vendor":
                layout = "any"  # the operator chooses, and the host takes any
            if cast or layout != "any":
                found[parameter.name] = Rule(
                    operator.name, parameter.name, cast, layout, bool(one.wrap)
                )
        return found

    def known(self, entries: Entries, keys: tuple[str, ...], at: str) -> None:
        for key in entries.values:
            if key not in keys:
                near = _near(key, keys) or f"; there are {', '.join(keys)}"
                self.fail(entries.lines[key], f"{at}{key}: there is no such key{near}")

    def mapping(self, entries: Entries, key: str, at: str) -> Entries:
        value = entries.values[key]
        if isinstance(value, str):
            self.fail(entries.lines[key], f"{at}{key}: got {value!r}, expected keys and values")
        return value

    def word(self, entries: Entries, key: str, at: str) -> str:
        value = entries.values[key]
        if not isinstance(value, str):
            self.fail(entries.lines[key], f"{at}{key}: got keys and values, expected one word")
        return value

    def one_of(self, entries: Entries, key: str, allowed: tuple[str, ...], at: str) -> str:
        value = self.word(entries, key, at)
        if value not in allowed:
            near = _near(value, allowed)
            expected = ", ".join(allowed)
            self.fail(
                entries.lines[key], f"{at}{key}: got {value}, expected one of {expected}{near}"
            )
        return value


def _near(name: str, known: Iterable[str]) -> str:
    found = difflib.get_close_matches(name, list(known), n=1, cutoff=0.75)
    return f"; did you mean {found[0]}?" if found else ""


def _cast_line(entries: Entries, source: str) -> int:
    cast = entries.values["cast"]
    return cast.lines[source] if isinstance(cast, Entries) else entries.line
