"""Observers of operator calls: all modes share one hook, which runs before every watched call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from dl_core import _C
from dl_core.torch_backend.modes.names import matching, texts

Results = list[Any] | None
After = Callable[[Results], None]
"""Called with the results of a call, or None if it failed."""


class Observer(Protocol):
    """A mode that observes calls."""

    def before(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> After | None:
        """Called before ``name``, ``"add.Tensor"``, runs. Operators called by it are not
        observed."""


_LEFT_OUT = (
    *("_copy_from", "_has_compatible", "_lazy_clone", "_pin_memory", "_reshape_alias"),
    *("empty", "new_empty", "is_pinned", "record_stream", "resize", "set_.", "set_data", "_resize"),
)
"""Operators that handle memory instead of values, including copies. They always run on
the device."""

_watched: dict[Observer, frozenset[str]] = {}


def watchable(api: str, patterns: Sequence[str] | str) -> frozenset[str]:
    """Return the overloads that match and can be watched.

    :raises TypeError: see :func:`.names.texts`.
    :raises ValueError: see :func:`.names.matching`.
    """
    wanted = texts(api, patterns)
    if not wanted:
        return frozenset()
    known = [name for name in _C.watchable_operators() if not name.startswith(_LEFT_OUT)]
    return frozenset(matching(api, wanted, {name: (name,) for name in known}))


def watch(observer: Observer, names: frozenset[str]) -> None:
    """Set the overloads whose calls an observer sees, in all threads."""
    global _watched
    watched = {each: own for each, own in _watched.items() if each is not observer}
    if names:
        watched[observer] = names
    _watched = watched
    if watched:
        _C.set_hook(_hook)
    _C.watch(sorted(frozenset[str]().union(*watched.values())))


def _hook(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> After | None:
    waiting = [
        then
        for observer, names in _watched.items()
        if name in names and (then := observer.before(name, args, kwargs)) is not None
    ]
    if not waiting:
        return None

    def after(results: Results) -> None:
        for then in reversed(waiting):
            then(results)

    return after
