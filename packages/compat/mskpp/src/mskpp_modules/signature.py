"""Parser for the parameters of a kernel in its C++ source."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .errors import MskppError

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_TEMPLATE = re.compile(r"template\s*<([^<>]*)>[\s\w\"]*$")
_OPEN, _CLOSE = "(<{[", ")>}]"


@dataclass(frozen=True)
class Signature:
    """Signature of a kernel.

    :ivar types: types of its parameters, as in the source.
    :ivar open: the types that are template parameters.
    """

    name: str
    types: tuple[str, ...]
    open: frozenset[str]


def find_signature(source: str, name: str, file: str) -> Signature:
    """Find a kernel by name.

    :raises MskppError: it does not exist, or its declaration is not supported.
    """
    text = _COMMENT.sub(" ", source)
    found = re.search(rf"\bvoid\s+{re.escape(name)}\s*\(", text)
    if found is None:
        raise MskppError(f"[mskpp] {file} has no kernel 'void {name}(...)'")
    inside = _balanced(text, found.end())
    if inside is None:
        raise MskppError(f"[mskpp] {file}: the parameter list of {name} is not closed")
    types = []
    for parameter in _split(inside):
        declared = re.fullmatch(r"(.+?[\s&*>])\s*\w+", parameter.partition("=")[0].strip(), re.S)
        if declared is None:
            raise MskppError(
                f"[mskpp] {file}: parameter {parameter.strip()!r} of {name} is unnamed"
            )
        types.append(re.sub(r"\bconst\b|&", "", declared[1]).strip())
    before = re.split(r"[;{}]", text[: found.start()])[-1]
    template = _TEMPLATE.search(before)
    names: list[str] = []
    for each in template[1].split(",") if template else ():
        word = re.fullmatch(r"\s*(?:class|typename)\s+(\w+)\s*", each)
        if word is None:
            raise MskppError(
                f"[mskpp] {file}: template parameter {each.strip()!r} of {name} is not a type:"
                " arguments cannot determine it"
            )
        names.append(word[1])
    return Signature(name, tuple(types), frozenset(names) & set(types))


def _balanced(text: str, start: int) -> str | None:
    depth = 1
    for at in range(start, len(text)):
        depth += (text[at] == "(") - (text[at] == ")")
        if depth == 0:
            return text[start:at]
    return None


def _split(text: str) -> list[str]:
    """Return the parts between the commas outside brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in _OPEN) - (letter in _CLOSE)
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part for part in parts if part.strip()]
