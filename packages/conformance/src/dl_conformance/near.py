"""Names that are near to one that there is not."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches

from diopi_proto.schema import load

from .catalog import all_cases, cases_of
from .checks.check import SUBJECT, checks

SHOWN = 5
"""How many are told."""


def told(near: Iterable[str]) -> str:
    """The end of a message that says what there is not; nothing where nothing is near."""
    found = ", ".join(near)
    return f"; near to it: {found}" if found else ""


def near_operators(name: str) -> list[str]:
    """Operators whose names are near, whatever the case of letters, with and without ``diopi``."""
    known = {_short(operator.lower()): operator for operator in (*load(), SUBJECT)}
    return [known[x] for x in get_close_matches(_short(name.lower()), [*known], SHOWN)]


def near_cases(name: str) -> list[str]:
    """Cases of the same operator with such a name; operators, where there is no such one."""
    operator = name.partition("[")[0]
    if operator == SUBJECT:
        return get_close_matches(name, [*checks()], SHOWN)
    if operator in load():
        return get_close_matches(name, [case.name for case in cases_of(operator)], SHOWN)
    return near_operators(operator)


def near_words(words: Iterable[str]) -> dict[str, list[str]]:
    """By word that is in no name of a case or check: words that are, and are near."""
    names = {name.lower() for name in (*checks(), *(case.name for case in all_cases()))}
    absent = [x for x in dict.fromkeys(words) if not any(x.lower() in name for name in names)]
    parts = {part for name in names for part in re.split(r"[\[\]\s-]+", name) if part}
    known = sorted(parts | {_short(part) for part in parts})
    return {word: get_close_matches(word.lower(), known, SHOWN) for word in absent}


def _short(operator: str) -> str:
    return operator.removeprefix("diopi").removeprefix("dlop")
