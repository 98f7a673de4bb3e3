"""Temporary replacement of attributes. Undoing it also removes attributes that did not exist
before."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any, Protocol

_ABSENT = object()


class Undoable(Protocol):
    """A change that can be undone."""

    def apply(self) -> None: ...
    def undo(self) -> None: ...


class Replacements:
    """A list of attributes with their new values: either all are replaced, or none.

    :param others: changes that do not replace attributes.
    """

    def __init__(
        self, rows: Iterable[tuple[Any, str, Any]], others: Iterable[Undoable] = ()
    ) -> None:
        self._rows = list(rows)
        self._others = list(others)
        self._before: list[tuple[Any, str, Any]] = []

    def apply(self) -> None:
        for owner, name, value in self._rows:
            # Deleting our attribute makes an inherited one visible again.
            self._before.append((owner, name, vars(owner).get(name, _ABSENT)))
            setattr(owner, name, value)
        for other in self._others:
            other.apply()

    def undo(self) -> None:
        for other in self._others:
            other.undo()
        while self._before:
            owner, name, value = self._before.pop()
            if value is _ABSENT:
                delattr(owner, name)
            else:
                setattr(owner, name, value)


def owner_of(path: str) -> Any:
    """Return the module or class at a dotted path.

    :raises RuntimeError: this torch does not have it.
    """
    module, _, rest = path, "", ""
    while True:
        try:
            found: Any = import_module(module)
            break
        except ImportError:
            module, _, last = module.rpartition(".")
            rest = f"{last}.{rest}".rstrip(".")
            if not module:
                raise RuntimeError(f"[mock_cuda] there is no {path} in this torch") from None
    for part in filter(None, rest.split(".")):
        found = getattr(found, part)
    return found


def translate_calls(function: Any, translate: Callable[[Any], Any], keep: int = 0) -> Any:
    """Return ``function`` with a translation of its arguments and defaults.

    :param keep: number of leading positional arguments that are not translated.
    """
    defaults = _defaults(function, translate)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        named = {name: translate(value) for name, value in kwargs.items()}
        for position, name, value in defaults:
            if position >= len(args):
                named.setdefault(name, value)
        return function(*args[:keep], *map(translate, args[keep:]), **named)

    return call


def _defaults(function: Any, translate: Callable[[Any], Any]) -> list[tuple[int, str, Any]]:
    """Return the position, name and translated value of each default that names a CUDA device."""
    if not inspect.isfunction(function):
        return []
    found = []
    for position, parameter in enumerate(inspect.signature(function).parameters.values()):
        default = parameter.default
        if isinstance(default, str) and translate(default) != default:
            found.append((position, parameter.name, translate(default)))
    return found
