"""Import hook that calls a function just before a module is executed for the first time."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

Action = Callable[[], None]


def watch(actions: Mapping[str, Action]) -> None:
    """Call each action once, before its module is imported, or immediately if it already is.

    A failing action gives a warning, and the import continues.
    """
    waiting = {}
    for name, action in actions.items():
        if name in sys.modules:
            _call(name, action)
        else:
            waiting[name] = action
    if waiting:
        sys.meta_path.insert(0, _Watch(waiting))


def _call(name: str, action: Action) -> None:
    try:
        action()
    except Exception as error:  # noqa: BLE001 - the program may not need dl in this framework
        warnings.warn(
            f"dl-integrations: dl could not be registered with {name}: "
            f"{type(error).__name__}: {error}",
            RuntimeWarning,
            stacklevel=2,
        )


class _Watch(MetaPathFinder):
    """Finder that calls the action and leaves the module to the finders after it."""

    def __init__(self, waiting: dict[str, Action]) -> None:
        self._waiting = waiting

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        action = self._waiting.pop(name, None)
        if action is not None:
            _call(name, action)
        return None
