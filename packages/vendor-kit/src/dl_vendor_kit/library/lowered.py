"""The kind and C++ code of expressions, and the names that they can use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from .helpers import Helper

NS = "lib"  # alias of dl::kit::library in the generated sources


@dataclass(frozen=True, slots=True)
class Lowered:
    """An expression's kind and code.

    :ivar nullable: it may be NULL.
    :ivar roots: the parameters and temporaries whose memory a tensor shares, or that an action
        writes.
    :ivar reads: the parameters and temporaries that an action reads.
    :ivar constant: its value, if it is a number that the generator knows.
    :ivar text: its value, if it is a text that the generator knows.
    :ivar values: the texts that the contract allows, or the names of an enumeration's numbers;
        empty: any.
    :ivar parts: the roots of which a tensor has only a part of the elements.
    """

    kind: str
    code: str
    nullable: bool = False
    roots: frozenset[str] = frozenset()
    reads: frozenset[str] = frozenset()
    constant: int | float | None = None
    text: str | None = None
    values: tuple[str, ...] = ()
    parts: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Scope:
    """The names that an expression can use.

    :ivar present: names that are not NULL here, because of a condition.
    :ivar used: collects the names of all parameters that were looked up.
    """

    names: Mapping[str, Lowered]
    temporaries: Mapping[str, Lowered]
    helpers: Mapping[str, Helper]
    present: frozenset[str] = frozenset()
    used: set[str] = field(default_factory=set)

    def with_present(self, names: frozenset[str]) -> Scope:
        """Return a scope in which these names are known to be present."""
        return replace(self, present=self.present | names)


def convert_kind(value: Lowered, kind: str) -> str | None:
    """Return the code of a value as another kind; None if it does not fit."""
    if value.kind == kind:
        return value.code
    if kind == "double" and value.kind == "int":
        return f"static_cast<double>({value.code})"
    if kind == "int" and value.kind == "bool":
        return f"int64_t{{{value.code}}}"
    if kind == "doubles" and value.kind == "ints":
        return f"{NS}::doubles_of({value.code})"
    return None
