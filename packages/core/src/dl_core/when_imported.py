"""Import hook that calls functions just before and just after a module is executed."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

Action = Callable[[], None]
Actions = Mapping[str, Sequence[Action]]


def watch(before: Mapping[str, Action], after: Actions | None = None) -> None:
    """Call each action once, before or after the execution of its module, or now if that has begun.

    Actions of a module that is being executed now are called after the next import that finds it
    complete. A failing action gives a warning, and the import continues.
    """
    waiting: dict[str, Action] = {}
    for name, action in before.items():
        if name in sys.modules:
            _call(name, action)
        else:
            waiting[name] = action
    later: dict[str, Sequence[Action]] = {}
    for name, actions in (after or {}).items():
        if _is_complete(name):
            _call_all(name, actions)
        else:
            later[name] = actions
    if waiting or later:
        sys.meta_path.insert(0, _Watch(waiting, later))


def _is_complete(name: str) -> bool:
    """Return True if a module has been executed to its end."""
    spec = getattr(sys.modules.get(name), "__spec__", None)
    return spec is not None and not getattr(spec, "_initializing", False)


def _call_all(name: str, actions: Sequence[Action]) -> None:
    for action in actions:
        _call(name, action)


def _call(name: str, action: Action) -> None:
    try:
        action()
    except Exception as error:  # noqa: BLE001 - the program may not need dl in this framework
        warnings.warn(
            f"dl-core: dl could not be registered with {name}: {type(error).__name__}: {error}",
            RuntimeWarning,
            stacklevel=2,
        )


class _Watch(MetaPathFinder):
    """Finder that calls the actions and leaves modules to the finders after it."""

    def __init__(self, before: dict[str, Action], after: dict[str, Sequence[Action]]) -> None:
        self._before = before
        self._after = after

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        for each in [x for x in self._after if _is_complete(x)]:
            self._call_after(each)
        action = self._before.pop(name, None)
        if action is not None:
            _call(name, action)
        return self._spec(name, path, target) if name in self._after else None

    def _spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None
    ) -> ModuleSpec | None:
        """Return the spec that the next finders have, with actions after the execution."""
        others = (finder for finder in sys.meta_path if finder is not self)
        found = (finder.find_spec(name, path, target) for finder in others)
        spec = next((x for x in found if x is not None), None)
        loader = spec.loader if spec else None
        if loader is None or not hasattr(loader, "exec_module"):
            return spec
        execute = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            # The loader is the module's own and stays as it was for those who read it later.
            del loader.exec_module
            execute(module)
            self._call_after(name)

        loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec

    def _call_after(self, name: str) -> None:
        _call_all(name, self._after.pop(name, ()))
