"""Settings of a mode: those of the process, and those of active context managers."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

Setting = TypeVar("Setting")


class Layers(Generic[Setting]):
    """A stack of settings for all threads. Each setting is removed individually, so that blocks of
    different threads may end in any order.

    :param apply: called with all settings, the process's first, whenever they change. If it
        raises, the settings are restored.
    """

    def __init__(self, none: Setting, apply: Callable[[list[Setting]], None]) -> None:
        self._settings: list[list[Setting]] = [[none]]
        self._apply = apply
        self._lock = threading.RLock()

    def set(self, setting: Setting) -> None:
        """Set the process's setting, which applies outside of all blocks."""
        with self._lock:
            self._change([[setting], *self._settings[1:]])

    @contextmanager
    def block(self, setting: Setting) -> Iterator[None]:
        """Context manager that adds a setting to the stack."""
        own = [setting]
        with self._lock:
            self._change([*self._settings, own])
        try:
            yield
        finally:
            with self._lock:
                self._change([each for each in self._settings if each is not own])

    def _change(self, settings: list[list[Setting]]) -> None:
        self._apply([setting for (setting,) in settings])
        self._settings = settings
