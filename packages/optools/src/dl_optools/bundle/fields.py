"""Reading JSON strictly: every field is there, of its type, and nothing else is."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

from dl_optools.bundle.errors import BundleError

T = TypeVar("T")


def _refuse_constant(text: str) -> NoReturn:
    raise BundleError(f"it holds {text}, which is not JSON")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise BundleError("an object of it has a key twice")
    return found


def parse(text: str) -> Any:
    """JSON without duplicate keys, nan and infinities.

    :raises BundleError: it is none, or nests so deep that no call made it.
    """
    try:
        return json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_unique)
    except RecursionError:
        raise BundleError("its JSON nests too deep") from None
    except BundleError:
        raise
    except ValueError as error:
        raise BundleError(f"it is not JSON: {error}") from None


class Fields:
    """One JSON object; each field is taken once, :meth:`done` says that none is left.

    :param where: how errors call it.
    """

    def __init__(self, value: Any, where: str) -> None:
        if not isinstance(value, dict):
            raise BundleError(f"{where} is {_short(value)}, not an object")
        self._left = dict(value)
        self.where = where

    def take(self, name: str, kind: type[T]) -> T:
        """A field of exactly this type: True is no int."""
        if name not in self._left:
            raise BundleError(f"{self.where} has no {name!r}")
        value = self._left.pop(name)
        if type(value) is not kind:
            raise BundleError(
                f"{name!r} of {self.where} is {_short(value)}, not of type {kind.__name__}"
            )
        return value

    def optional(self, name: str, kind: type[T]) -> T | None:
        """The same, or null."""
        if name in self._left and self._left[name] is None:
            del self._left[name]
            return None
        return self.take(name, kind)

    def anything(self, name: str) -> Any:
        """A field that is checked elsewhere."""
        if name not in self._left:
            raise BundleError(f"{self.where} has no {name!r}")
        return self._left.pop(name)

    def items(self, name: str, check: Callable[[Any, str], T]) -> tuple[T, ...]:
        """A list whose items ``check`` reads."""
        values = self.take(name, list)
        return tuple(check(x, f"{name}[{at}] of {self.where}") for at, x in enumerate(values))

    def texts(self, name: str) -> dict[str, str]:
        """An object whose values are strings."""
        found = self.take(name, dict)
        for key, value in found.items():
            if type(value) is not str:
                raise BundleError(f"{key!r} in {name!r} of {self.where} is {_short(value)}")
        return found

    def done(self) -> None:
        """Nothing else may be there."""
        if self._left:
            raise BundleError(f"{self.where} has an unknown field {min(self._left)!r}")


def count(value: Any, where: str) -> int:
    """A number that counts or measures: an int from 0 to 2**62.

    :raises BundleError: anything else.
    """
    if type(value) is not int or not 0 <= value <= 1 << 62:
        raise BundleError(f"{where} is {_short(value)}, not a number from 0 to 2**62")
    return value


def below(limit: int) -> Callable[[Any, str], int]:
    """Reads an index into something of ``limit`` entries."""

    def check(value: Any, where: str) -> int:
        if count(value, where) >= limit:
            raise BundleError(f"{where} is {value}, there are {limit}")
        return int(value)

    return check


def below_or_none(limit: int) -> Callable[[Any, str], int | None]:
    """The same, or null."""
    check = below(limit)

    def or_none(value: Any, where: str) -> int | None:
        return None if value is None else check(value, where)

    return or_none


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
