"""Dependencies between families, parsed from the kernels like the operators themselves.

A function that several families call is declared in a header, or in a family's own file by
``decltype(::diopiMul) diopiMul;``, and defined in the file of one family. The families that call it
need the defining family in their library; so does the list of operators, whose type promotion
makes copies.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from .sources import families, family_path, included, is_definition, part_path, parts, text_of

__all__ = ["with_used"]

_LIST_OF_OPERATORS = "dl_kernels/promotion.h"
# A function begins a line with its return type.
_FUNCTION = re.compile(r"^(?:[\w:<>,]+[ &*]+)+(\w+)\(", re.MULTILINE)
_OPERATOR = re.compile(r"^decltype\(::(\w+)\) \1;", re.MULTILINE)
_CALL = re.compile(r"\b(\w+)\(")


def with_used(chosen: Iterable[str]) -> list[str]:
    """Return these families and those whose functions they call, sorted by name.

    :raises ValueError: a family does not exist.
    """
    known = families()
    waiting = list(chosen)
    if unknown := sorted(set(waiting) - set(known)):
        raise ValueError(
            f"{unknown[0]!r} is not a family of kernels; the families are {', '.join(known)}"
        )
    owners = {name: family for family in known for name in _functions(family_path(family)).defined}
    owners |= {name: family for family, operators in known.items() for name in operators}
    waiting += _owners_of_called(_LIST_OF_OPERATORS, owners)
    found: set[str] = set()
    while waiting:
        family = waiting.pop()
        if family not in found:
            found.add(family)
            waiting += _owners_of_called(family_path(family), owners)
            for part in parts([family]):
                waiting += _owners_of_called(part_path(part), owners)
    return sorted(found)


def _owners_of_called(file: str, owners: dict[str, str]) -> set[str]:
    """Return the families of functions that a file and its includes declare and call."""
    read = [_functions(each) for each in included(file)]
    declared = {name for functions in read for name in functions.declared if name in owners}
    return {owners[name] for functions in read for name in declared & functions.called}


class _Functions(NamedTuple):
    """Names of the functions in a file."""

    defined: frozenset[str]
    declared: frozenset[str]
    called: frozenset[str]


@cache
def _functions(file: str) -> _Functions:
    text = text_of(file) or ""
    defined: set[str] = set()
    declared: set[str] = set(_OPERATOR.findall(text))
    for match in _FUNCTION.finditer(text):
        (defined if is_definition(text, match.end()) else declared).add(match[1])
    called = _CALL.findall(_FUNCTION.sub("", text))
    return _Functions(frozenset(defined), frozenset(declared), frozenset(called))
