"""Tensors that the calls of a case write, and whether they do so for all arguments."""

from __future__ import annotations

from collections.abc import Iterable

from .syntax import Call, Expression, Index, Items, Literal, Name, Operation, Temporary

# A condition without its place in the text.
_Key = tuple[object, ...]
_OPPOSITES = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


class Writes:
    """The tensors that calls have written so far, with the conditions of the calls."""

    def __init__(self) -> None:
        self._always: set[str] = set()
        self._sometimes: dict[str, set[_Key]] = {}
        self._parts: dict[str, set[str]] = {}

    def __contains__(self, tensor: str) -> bool:
        """Return True if a call writes a tensor, with or without a condition."""
        return tensor in self._always or tensor in self._sometimes or tensor in self._parts

    def add(self, tensors: Iterable[str], condition: Expression | None) -> None:
        """Record tensors that a call with this condition writes; None: it is always made."""
        if condition is None:
            self._always.update(tensors)
        else:
            for tensor in tensors:
                self._sometimes.setdefault(tensor, set()).add(_key(condition))

    def add_part(self, tensor: str, code: str) -> None:
        """Record that a call writes the part of a tensor that this code describes."""
        self._parts.setdefault(tensor, set()).add(code)

    def is_part(self, tensor: str, code: str = "") -> bool:
        """Return True if calls write one part of a tensor, and nothing else.

        Whether several parts are the whole tensor depends on numbers that are not known here.

        :param code: a part, of which only the others count.
        """
        if tensor in self._always or tensor in self._sometimes:
            return False
        parts = self._parts.get(tensor, set())
        return len(parts) == 1 and code not in parts

    def is_certain(self, tensor: str, condition: Expression | None = None) -> bool:
        """Return True if a tensor is written whenever ``condition`` is true; None: always.

        Writes under a condition and under its opposite are certain together.
        """
        if tensor in self._always or tensor in self._parts:
            return True
        conditions = self._sometimes.get(tensor, set())
        if any(_opposite(key) in conditions for key in conditions):
            return True
        return condition is not None and not conditions.isdisjoint(_conjuncts(_key(condition)))


def _key(expression: Expression) -> _Key:
    match expression:
        case Name(name=name) | Temporary(name=name):
            return (type(expression).__name__, name)
        case Literal(value=value):
            return ("Literal", type(value).__name__, value)
        case Items(items=parts):
            return ("Items", *map(_key, parts))
        case Call(function=function, helper=helper, arguments=parts):
            return ("Call", function, helper, *map(_key, parts))
        case Operation(operator=operator, operands=parts):
            return ("Operation", operator, *map(_key, parts))
        case Index(of=of, index=index):
            return ("Index", _key(of), _key(index))
    raise AssertionError(expression)


def _opposite(key: _Key) -> _Key:
    match key:
        case ("Operation", "not", operand):
            return operand  # type: ignore[return-value]
        case ("Operation", str(operator), left, right) if operator in _OPPOSITES:
            return ("Operation", _OPPOSITES[operator], left, right)
    return ("Operation", "not", key)


def _conjuncts(key: _Key) -> set[_Key]:
    """Return a condition and those that it implies, as parts of its ``and``."""
    if key[:2] == ("Operation", "and"):
        return {key}.union(*(_conjuncts(part) for part in key[2:]))  # type: ignore[arg-type]
    return {key}
