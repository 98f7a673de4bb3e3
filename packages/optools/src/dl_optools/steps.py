"""Training steps, as all tools count them.

A step ends when an optimizer steps. Several optimizers that take turns make one step together: the
next one begins when one of them steps again. Programs without optimizers (inference, own update
rules) say so themselves by :func:`step`; from then on optimizers are not counted.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

Listener = Callable[[int], None]


class Steps:
    """Counts while somebody listens. All share :data:`STEPS`.

    :ivar number: steps that have ended.
    """

    def __init__(self) -> None:
        self.number = 0
        self._listeners: list[Listener] = []
        self._handle: Any = None
        self._stepped: weakref.WeakSet[Any] = weakref.WeakSet()
        self._by_hand = False

    def add(self, listener: Listener) -> None:
        """Call ``listener`` with the new count at the end of each step, in the thread of it."""
        if not self._listeners:
            from torch.optim.optimizer import register_optimizer_step_post_hook

            self._handle = register_optimizer_step_post_hook(self._on_optimizer)
        self._listeners.append(listener)

    def remove(self, listener: Listener) -> None:
        """Undo :meth:`add`; after the last one torch has no hook of ours."""
        self._listeners.remove(listener)
        if not self._listeners:
            self._handle.remove()
            self._handle = None
            self._stepped.clear()
            self._by_hand = False

    def by_hand(self) -> None:
        """A step has ended, says the program."""
        self._by_hand = True
        self._end()

    def _on_optimizer(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        if self._by_hand:
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
    """Tell the tools that a step has ended, in programs whose steps no optimizer ends."""
    STEPS.by_hand()
