"""Close matches for an unknown operator, case name or word."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches

from diopi_proto.schema import load

from .catalog import all_cases, cases_of
from .checks.check import SUBJECT, checks

SHOWN = 5
"""Maximum number of suggestions."""


def format_suggestions(near: Iterable[str]) -> str:
    """Return the end of a message about an unknown name: close matches, or ""."""
    found = ", ".join(near)
    return f"; did you mean: {found}" if found else ""


def near_operators(name: str) -> list[str]:
    """Return operators with similar names, ignoring case and the prefix ``diopi``."""
    known = {_short(operator.lower()): operator for operator in (*load(), SUBJECT)}
    return [known[x] for x in get_close_matches(_short(name.lower()), [*known], SHOWN)]


def near_cases(name: str) -> list[str]:
    """Return similar cases of the same operator, or similar operators if it is unknown."""
    operator = name.partition("[")[0]
    if operator == SUBJECT:
        return get_close_matches(name, [*checks()], SHOWN)
    if operator in load():
        return get_close_matches(name, [case.name for case in cases_of(operator)], SHOWN)
    return near_operators(operator)


def near_words(words: Iterable[str]) -> dict[str, list[str]]:
    """Map each word that no case or check contains to similar words of cases and checks."""
    names = {name.lower() for name in (*checks(), *(case.name for case in all_cases()))}
    absent = [x for x in dict.fromkeys(words) if not any(x.lower() in name for name in names)]
    parts = {part for name in names for part in re.split(r"[\[\]\s-]+", name) if part}
    known = sorted(parts | {_short(part) for part in parts})
    return {word: get_close_matches(word.lower(), known, SHOWN) for word in absent}


def _short(operator: str) -> str:
    return operator.removeprefix("diopi").removeprefix("dlop")
