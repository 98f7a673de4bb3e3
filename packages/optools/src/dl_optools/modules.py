"""Path of the running module, relative to the outermost running module."""

from __future__ import annotations

import threading
import weakref
from typing import Any

import torch
from torch.nn.modules import module as torch_module


class _Thread(threading.local):
    def __init__(self) -> None:
        self.running: list[torch.nn.Module] = []


class ModulePath:
    """Tracks the forward calls of modules while open. All users share :data:`MODULE_PATH`."""

    def __init__(self) -> None:
        self._users = 0
        self._handles: list[Any] = []
        self._thread = _Thread()
        self._names: weakref.WeakKeyDictionary[torch.nn.Module, dict[int, str]] = (
            weakref.WeakKeyDictionary()
        )

    def open(self) -> None:
        """Add a user; the first one starts tracking."""
        self._users += 1
        if self._users == 1:
            self._handles = [
                torch_module.register_module_forward_pre_hook(self._enter),
                torch_module.register_module_forward_hook(self._leave, always_call=True),
            ]

    def close(self) -> None:
        """Remove a user; the last one stops tracking and removes our hooks from torch."""
        self._users -= 1
        if self._users == 0:
            for handle in self._handles:
                handle.remove()
            self._handles = []
            self._thread = _Thread()

    def current(self) -> str:
        """Return ``layers.0.attention``, or the class name in the model itself, or "" outside."""
        running = self._thread.running
        if not running:
            return ""
        root, module = running[0], running[-1]
        names = self._names.get(root)
        if names is None or id(module) not in names:
            names = self._names[root] = {id(m): name for name, m in root.named_modules()}
        return names.get(id(module), "") or type(module).__name__

    def _enter(self, module: torch.nn.Module, _: Any) -> None:
        self._thread.running.append(module)

    def _leave(self, module: torch.nn.Module, _: Any, __: Any) -> None:
        running = self._thread.running
        # A module that was running when tracking started is not on the list.
        if running and running[-1] is module:
            running.pop()


MODULE_PATH = ModulePath()
