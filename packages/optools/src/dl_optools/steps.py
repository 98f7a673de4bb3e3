"""Training steps, as all tools count them.

A step ends when an optimizer steps. Several alternating optimizers make one step together: the next
step begins when an optimizer steps again. Programs without optimizers (inference, own update rules)
call :func:`step`; from then on optimizers are not counted.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

Listener = Callable[[int], None]


class Steps:
    """Counter of steps, active while it has listeners. All users share :data:`STEPS`.

    :ivar number: number of completed steps.
    """

    def __init__(self) -> None:
        self.number = 0
        self._listeners: list[Listener] = []
        self._handle: Any = None
        self._stepped: weakref.WeakSet[Any] = weakref.WeakSet()
        self._is_manual = False

    def add(self, listener: Listener) -> None:
        """Call ``listener`` with the new count at the end of each step, in the step's thread."""
        if not self._listeners:
            from torch.optim.optimizer import register_optimizer_step_post_hook

            self._handle = register_optimizer_step_post_hook(self._on_optimizer)
        self._listeners.append(listener)

    def remove(self, listener: Listener) -> None:
        """Undo :meth:`add`; with the last listener, our hook is removed from torch."""
        self._listeners.remove(listener)
        if not self._listeners:
            self._handle.remove()
            self._handle = None
            self._stepped.clear()
            self._is_manual = False

    def count_manually(self) -> None:
        """Count a step that the program reports."""
        self._is_manual = True
        self._end()

    def _on_optimizer(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        if self._is_manual:
            return
        others_began_it = len(self._stepped) > 0 and optimizer not in self._stepped
        if not others_began_it:
            self._stepped.clear()
            self._end()
        self._stepped.add(optimizer)

    def _end(self) -> None:
        self.number += 1
        for listener in tuple(self._listeners):
            listener(self.number)


STEPS = Steps()


def step() -> None:
    """Report the end of a step to the tools, in programs whose steps no optimizer ends."""
    STEPS.count_manually()
