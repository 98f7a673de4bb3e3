"""The tensors that calls read and write: which calls must keep their order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from dl_vendor_kit.library.arguments import targets
from dl_vendor_kit.library.expressions import (
    Call,
    Expression,
    ExpressionError,
    Index,
    Items,
    Name,
    Operation,
    Temporary,
    parse_step,
)
from dl_vendor_kit.library.model import Library, Text

from .expressions import render

_VALUES = ("dtype", "int", "bool", "ints")
"""Kinds of queries, which read no elements."""


@dataclass(frozen=True, slots=True)
class Effects:
    """Parameters and temporaries that a call reads, and those that it writes.

    :ivar conditions: texts of the conditions that must all be true.
    :ivar opposites: texts of conditions one of which is true if the call is left out.
    """

    reads: frozenset[str]
    writes: frozenset[str]
    conditions: frozenset[str] = frozenset()
    opposites: frozenset[str] = frozenset()

    def conflicts(self, other: Effects) -> bool:
        """Return True if the result depends on the order of two calls."""
        if self.conditions & other.opposites:
            return False
        return bool(
            self.writes & (other.reads | other.writes) or other.writes & (self.reads | self.writes)
        )


def effects_of(library: Library, text: Text) -> Effects | None:
    """Return the effects of a call; None if its text is invalid."""
    try:
        step = parse_step(text.text)
    except ExpressionError:
        return None
    call = step.call
    parts = [] if step.condition is None else [*_conjuncts(step.condition)]
    reads: set[str] = set()
    writes: set[str] = set()
    for argument, (is_read, is_written) in zip(
        call.arguments, _directions(library, call), strict=False
    ):
        names = {*_tensors(library, argument)}
        if is_read:
            reads |= names
        if is_written:
            writes |= names
    return Effects(
        frozenset(reads),
        frozenset(writes),
        frozenset(render(part) for part in parts),
        frozenset(render(_opposite(part)) for part in parts),
    )


def _conjuncts(condition: Expression) -> Iterator[Expression]:
    match condition:
        case Operation(operator="and", operands=parts):
            for part in parts:
                yield from _conjuncts(part)
        case _:
            yield condition


def _opposite(condition: Expression) -> Expression:
    match condition:
        case Operation(operator="not", operands=(operand,)):
            return operand
        case Operation(operator="==" | "!=" as operator):
            return replace(condition, operator="!=" if operator == "==" else "==")
    return Operation(condition.column, "not", (condition,))


def _directions(library: Library, call: Call) -> list[tuple[bool, bool]]:
    """Return for each argument of a call whether its elements are read, and written."""
    if call.helper:
        helper = library.helpers.get(call.function)
        kinds = () if helper is None else helper.takes
        return [(not kind.endswith("&"), kind.endswith("&")) for kind in kinds]
    function = library.functions.get(call.function)
    if function is None:
        return []
    return [(x.argument.needs_elements, x.argument.writes) for x in targets(library, function)]


def _tensors(library: Library, expression: Expression) -> Iterator[str]:
    match expression:
        case Name(name=name):
            yield name
        case Temporary(name=name):
            yield f"${name}"
        case Items(items=parts) | Operation(operands=parts):
            for part in parts:
                yield from _tensors(library, part)
        case Index(of=of):
            yield from _tensors(library, of)
        case Call(function=function, arguments=parts):
            helper = library.helpers.get(function)
            if helper is None or helper.returns not in _VALUES:
                for part in parts:
                    yield from _tensors(library, part)
