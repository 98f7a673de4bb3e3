"""Callbacks that run as soon as the import of a module has finished."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec


class _Watched(ModuleSpec):
    """A module's spec that detects the end of the import: Python then clears ``_initializing``."""

    def __setattr__(self, name: str, value: object) -> None:
        super().__setattr__(name, value)
        if name == "_initializing" and not value:
            action: Callable[[], None] = self.__dict__.pop("_when_imported")
            self.__class__ = ModuleSpec  # type: ignore[assignment]
            action()


def when_imported(name: str, action: Callable[[], None]) -> None:
    """Call ``action`` when the import of a module ends, or at once if it has already ended."""
    spec = getattr(sys.modules.get(name), "__spec__", None)
    if type(spec) is ModuleSpec and getattr(spec, "_initializing", False):
        spec.__dict__["_when_imported"] = action
        spec.__class__ = _Watched
    else:
        action()
