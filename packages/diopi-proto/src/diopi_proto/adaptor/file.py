"""Parser of adaptor files. Every error names the file, the line and the remedy."""

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
"""Maximum size in bytes: several times that of a file that adapts every tensor of every
operator."""
_MOST_PATTERNS = 200
"""Maximum number of name patterns, each of which is matched against all operators."""
_TOP = ("version", "overflow", "all", "operators")
_ALL = ("cast", "layout", "wrap")
_OPERATOR = (*_ALL, "parameters")
_PARAMETER = ("cast", "layout", "wrap")
_OVERFLOW = ("host", "vendor")


@dataclass(frozen=True)
class _Settings:
    """Settings from one mapping of a file; None for settings that outer mappings determine."""

    cast: Mapping[str, str] = field(default_factory=dict)
    layout: str | None = None
    wrap: bool | None = None

    def under(self, nearer: _Settings) -> _Settings:
        """Return these settings, overridden by those of an inner mapping."""
        return _Settings(
            {**self.cast, **nearer.cast},
            self.layout if nearer.layout is None else nearer.layout,
            self.wrap if nearer.wrap is None else nearer.wrap,
        )


def read_adaptor(path: str | Path) -> AdaptorFile:
    """Read an adaptor file and check it against the schema.

    :raises AdaptorError: the file is missing or invalid.
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
        """Report an error of the file.

        :raises AdaptorError: always.
        """
        raise AdaptorError(f"{self.path}:{line}: {what}")

    def read(self, top: Entries) -> AdaptorFile:
        self.known(top, _TOP, "")
        if "version" not in top.values:
            self.fail(top.line, f"`version: {VERSION}`, the version of the file format, is missing")
        version = self.word(top, "version", "")
        if version != VERSION:
            self.fail(
                top.lines["version"],
                f"version: this dl-diopi-proto reads version {VERSION}, not {version}; install the "
                "one that belongs to the vendor's wheel",
            )
        overflow = "host"
        if "overflow" in top.values:
            overflow = self.one_of(top, "overflow", _OVERFLOW, "")
        settings: dict[str, dict[str, _Settings]] = {}
        if "all" in top.values:
            place = self.mapping(top, "all", "")
            self.known(place, _ALL, "all.")
            self.used(place, adaptable_operators(), "all")
            common = self.read_settings(place, "all.")
            for name in adaptable_operators():
                settings[name] = {p.name: common for p in tensors_of(load()[name])}
        if "operators" in top.values:
            place = self.mapping(top, "operators", "")
            for key, names in self.names(place):
                self.operator(place, key, names, settings)
        rules = {n: self.rules(load()[n], settings[n]) for n in load() if n in settings}
        return AdaptorFile(self.path, {n: r for n, r in rules.items() if r}, overflow == "vendor")

    def names(self, place: Entries) -> list[tuple[str, list[str]]]:
        """Yield keys with the operators that they match, patterns first: full names
        override them.
        """
        found = []
        patterns = [key for key in place.values if any(c in key for c in "*?[")]
        if len(patterns) > _MOST_PATTERNS:
            line = place.lines[patterns[_MOST_PATTERNS]]
            self.fail(
                line,
                f"operators: there are more than {_MOST_PATTERNS} patterns; combine patterns",
            )
        for key in place.values:
            line = place.lines[key]
            if key in BASIC:
                self.fail(
                    line,
                    f"operators.{key}: adaptors use this operator for conversions and cannot adapt "
                    "it; remove the key",
                )
            if key in patterns:
                names = [n for n in adaptable_operators() if fnmatchcase(n, key)]
                if not names:
                    self.fail(
                        line, f"operators.{key}: no operator of the contract matches this pattern"
                    )
            elif key not in load():
                near = _near(key, load())
                self.fail(line, f"operators.{key}: the contract has no such operator{near}")
            elif key not in adaptable_operators():
                self.fail(
                    line,
                    f"operators.{key}: this operator has no dense tensors that could be adapted; "
                    "remove the key",
                )
            else:
                names = [key]
            found.append((key, names))
        return sorted(found, key=lambda one: one[1] == [one[0]])

    def operator(
        self, place: Entries, key: str, names: list[str], settings: dict[str, dict[str, _Settings]]
    ) -> None:
        at = f"operators.{key}."
        entries = self.mapping(place, key, "operators.")
        self.known(entries, _OPERATOR, at)
        self.used(entries, names, at.rstrip("."))
        own = self.read_settings(entries, at)
        parameters: dict[str, _Settings] = {}
        if "parameters" in entries.values:
            inner = self.mapping(entries, "parameters", at)
            for name in inner.values:
                parameters[name] = self.parameter(inner, name, names, f"{at}parameters.")
        for operator in names:
            before = settings.setdefault(operator, {})
            for parameter in tensors_of(load()[operator]):
                nearer = own.under(parameters.get(parameter.name, _Settings()))
                before[parameter.name] = before.get(parameter.name, _Settings()).under(nearer)

    def parameter(self, place: Entries, name: str, operators: list[str], at: str) -> _Settings:
        having = [n for n in operators if name in {p.name for p in tensors_of(load()[n])}]
        if not having:
            known = {p.name: None for n in operators for p in tensors_of(load()[n])}
            near = _near(name, known) or f"; its tensors are {', '.join(known)}"
            self.fail(place.lines[name], f"{at}{name}: the operator has no such tensor{near}")
        entries = self.mapping(place, name, at)
        self.known(entries, _PARAMETER, f"{at}{name}.")
        settings = self.read_settings(entries, f"{at}{name}.")
        for source in settings.cast:
            possible = {
                d for n in having for d in possible_dtypes(load()[n], load()[n].parameter(name))
            }
            if source not in possible:
                allowed = ", ".join(d for d in DTYPES if d in possible)
                self.fail(
                    _cast_line(entries, source),
                    f"{at}{name}.cast.{source}: this tensor is never {source}; it can be {allowed}",
                )
        return settings

    def used(self, entries: Entries, operators: Iterable[str], at: str) -> None:
        """Check that every cast applies to at least one tensor."""
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
                    f"{at}.cast.{source}: no tensor here can be {source}; possible dtypes are "
                    f"{allowed}",
                )

    def read_settings(self, entries: Entries, at: str) -> _Settings:
        layout = self.one_of(entries, "layout", LAYOUTS, at) if "layout" in entries.values else None
        wrap = None
        if "wrap" in entries.values:
            wrap = self.one_of(entries, "wrap", ("true", "false"), at) == "true"
        if "cast" not in entries.values:
            return _Settings({}, layout, wrap)
        cast = self.mapping(entries, "cast", at)
        return _Settings({s: self.target(cast, s, f"{at}cast.") for s in cast.values}, layout, wrap)

    def target(self, cast: Entries, source: str, at: str) -> str:
        target = self.word(cast, source, at)
        for dtype in (source, target):
            if dtype not in DTYPES:
                near = _near(dtype, DTYPES) or f"; the dtypes are {', '.join(DTYPES)}"
                self.fail(cast.lines[source], f"{at}{source}: {dtype} is not a dtype{near}")
        kind = next((name for name, dtypes in KINDS.items() if source in dtypes), "")
        if source != target and (target not in KINDS.get(kind, ()) or target == "bool"):
            other = ", ".join(d for d in KINDS.get(kind, ()) if d not in (source, "bool"))
            self.fail(
                cast.lines[source],
                f"{at}{source}: {source} cannot be cast to {target}"
                + (
                    f", which is another kind of number; possible dtypes are {other}"
                    if other
                    else ""
                ),
            )
        return target

    def rules(self, operator: Operator, settings: Mapping[str, _Settings]) -> dict[str, Rule]:
        """Return the rules, except those that change nothing."""
        found = {}
        for parameter in tensors_of(operator):
            one = settings.get(parameter.name, _Settings())
            possible = possible_dtypes(operator, parameter)
            cast = {s: t for s, t in one.cast.items() if s != t and s in possible}
            layout = one.layout or "any"
            if parameter.allocated_by == "vendor":
                layout = "any"  # the operator chooses the format, and the host accepts any
            if cast or layout != "any":
                found[parameter.name] = Rule(
                    operator.name, parameter.name, cast, layout, bool(one.wrap)
                )
        return found

    def known(self, entries: Entries, keys: tuple[str, ...], at: str) -> None:
        for key in entries.values:
            if key not in keys:
                near = _near(key, keys) or f"; the keys are {', '.join(keys)}"
                self.fail(entries.lines[key], f"{at}{key}: unknown key{near}")

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
