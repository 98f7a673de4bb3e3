"""Strict reader of JSON: every field exists, has its type, and no other field exists."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

from dl_optools.bundle.errors import BundleError

T = TypeVar("T")


def _refuse_constant(text: str) -> NoReturn:
    raise BundleError(f"it contains {text}, which is not JSON")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise BundleError("an object in it has a duplicate key")
    return found


def parse(text: str) -> Any:
    """Parse JSON without duplicate keys, nan and infinities.

    :raises BundleError: the text is not such JSON, or is nested too deeply.
    """
    try:
        return json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_unique)
    except RecursionError:
        raise BundleError("its JSON is nested too deeply") from None
    except BundleError:
        raise
    except ValueError as error:
        raise BundleError(f"it is not JSON: {error}") from None


class Fields:
    """One JSON object; each field is taken once, and :meth:`done` checks that none is left.

    :param where: name of the object in errors.
    """

    def __init__(self, value: Any, where: str) -> None:
        if not isinstance(value, dict):
            raise BundleError(f"{where} is {_short(value)}, not an object")
        self._left = dict(value)
        self.where = where

    def take(self, name: str, kind: type[T]) -> T:
        """Return a field of exactly this type: True is not an int."""
        if name not in self._left:
            raise BundleError(f"{self.where} has no {name!r}")
        value = self._left.pop(name)
        if type(value) is not kind:
            raise BundleError(
                f"{name!r} of {self.where} is {_short(value)}, not of type {kind.__name__}"
            )
        return value

    def optional(self, name: str, kind: type[T]) -> T | None:
        """Return a field of exactly this type, or None for null."""
        if name in self._left and self._left[name] is None:
            del self._left[name]
            return None
        return self.take(name, kind)

    def anything(self, name: str) -> Any:
        """Return a field without a check of its type."""
        if name not in self._left:
            raise BundleError(f"{self.where} has no {name!r}")
        return self._left.pop(name)

    def items(self, name: str, check: Callable[[Any, str], T]) -> tuple[T, ...]:
        """Return a list whose items ``check`` reads."""
        values = self.take(name, list)
        return tuple(check(x, f"{name}[{at}] of {self.where}") for at, x in enumerate(values))

    def texts(self, name: str) -> dict[str, str]:
        """Return an object whose values are strings."""
        found = self.take(name, dict)
        for key, value in found.items():
            if type(value) is not str:
                raise BundleError(f"{key!r} in {name!r} of {self.where} is {_short(value)}")
        return found

    def done(self) -> None:
        """Check that no other field exists."""
        if self._left:
            raise BundleError(f"{self.where} has an unknown field {min(self._left)!r}")


def count(value: Any, where: str) -> int:
    """Return an int from 0 to 2**62 that counts or measures something.

    :raises BundleError: the value is anything else.
    """
    if type(value) is not int or not 0 <= value <= 1 << 62:
        raise BundleError(f"{where} is {_short(value)}, not a number from 0 to 2**62")
    return value


def below(limit: int) -> Callable[[Any, str], int]:
    """Return a check for indices into ``limit`` entries."""

    def check(value: Any, where: str) -> int:
        if count(value, where) >= limit:
            raise BundleError(f"{where} is {value}, but must be less than {limit}")
        return int(value)

    return check


def below_or_none(limit: int) -> Callable[[Any, str], int | None]:
    """Return a check for indices into ``limit`` entries, or null."""
    check = below(limit)

    def or_none(value: Any, where: str) -> int | None:
        return None if value is None else check(value, where)

    return or_none


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
