"""Replacements for torch classes. Calling one creates torch's own object for a dl device.

torch's classes are final or known to its C++ part, so they can be neither modified nor
subclassed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Translate = Callable[[Any], Any]


class StandIn(type):
    """Metaclass: calls create an object of the original class, and ``isinstance`` and attribute
    access refer to that class."""

    _original: type
    _translate: Translate

    def __new__(
        mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **kwargs: Any
    ) -> Any:
        real = tuple(b._original if isinstance(b, StandIn) else b for b in bases)
        if real != bases:  # a subclass defined by a program
            return type(real[0])(name, real, namespace, **kwargs)
        return super().__new__(mcs, name, bases, namespace, **kwargs)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        translate = cls._translate
        named = {name: translate(value) for name, value in kwargs.items()}
        return cls._original(*map(translate, args), **named)

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, cls._original)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, cls._original)

    # Type tables use the original class as a key, and torch compares with it.

    def __eq__(cls, other: object) -> bool:
        return other is cls or other is cls._original

    def __hash__(cls) -> int:
        return hash(cls._original)

    def __getattr__(cls, name: str) -> Any:
        return getattr(cls._original, name)


def stand_in(original: type, translate: Translate) -> StandIn:
    """Return a replacement for ``original`` with the same name, which pickles contain."""
    namespace = {
        "__module__": original.__module__,
        "__qualname__": original.__qualname__,
        "__doc__": original.__doc__,
        "_original": original,
        "_translate": staticmethod(translate),
    }
    made: StandIn = StandIn(original.__name__, (), namespace)
    return made
