"""Torch's stacks of modes: takes one out from anywhere in them, and hides our own work from all.

Modes are met from the top of a stack. Torch takes them off from there only.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from typing import Any

import torch
from torch._C._dynamo.guards import set_is_in_mode_without_ignore_compile_internals
from torch.utils import _python_dispatch
from torch.utils._python_dispatch import TorchDispatchMode
from typing_extensions import Self

function_depth = torch._C._len_torch_function_stack
_function_at = torch._C._get_function_stack_at
_function_pop = torch._C._pop_torch_function_stack
_function_push = torch._C._push_on_torch_function_stack
dispatch_depth = torch._C._len_torch_dispatch_stack
_dispatch_at = torch._C._get_dispatch_stack_at

_FLAGS = {
    "_is_in_torch_dispatch_mode": "old_dispatch_mode_flags",
    "_is_in_non_infra_torch_dispatch_mode": "old_non_infra_dispatch_mode_flags",
    "_is_in_any_mode_without_ignore_compile_internals": (
        "old_without_ignore_compile_internals_dispatch_mode_flags"
    ),
}
"""What torch notes, for all threads, about dispatch modes; and where each mode keeps what was noted
before it was entered."""


class _Noted:
    """Torch's notes as they are without our modes: threads enter and leave them in any order."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._modes = 0
        self._before = [False] * len(_FLAGS)

    def entered(self) -> None:
        with self._lock:
            if self._modes == 0:
                self._before = [getattr(_python_dispatch, name) for name in _FLAGS]
                self._note([True] * len(_FLAGS))
            self._modes += 1

    def left(self, below: list[Any], above: list[Any]) -> None:
        """A mode left from between others."""
        with self._lock:
            self._modes -= 1
            if self._modes:
                return
            if not above:
                self._note(self._before)
                return
            # The next mode puts back what we noted: now it has to put back what we found.
            heir = above[0]
            turn = sum(other is heir for other in below)
            for kept, value in zip(_FLAGS.values(), self._before, strict=True):
                getattr(heir, kept)[turn] = value

    def _note(self, values: list[bool]) -> None:
        for name, value in zip(_FLAGS, values, strict=True):
            setattr(_python_dispatch, name, value)
        set_is_in_mode_without_ignore_compile_internals(values[-1])


_noted = _Noted()


def _stack(mode: Any) -> list[Any]:
    if isinstance(mode, TorchDispatchMode):
        return [_dispatch_at(at) for at in range(dispatch_depth())]
    return [_function_at(at) for at in range(function_depth())]


def on_stack(mode: Any) -> bool:
    """Whether a function mode or a dispatch mode meets calls of this thread now."""
    return any(other is mode for other in _stack(mode))


def enter(mode: Any) -> None:
    """Put a mode on top of its stack."""
    if isinstance(mode, TorchDispatchMode):
        _noted.entered()
        _python_dispatch._push_mode(mode)
    else:
        _function_push(mode)


def leave(mode: Any) -> None:
    """Take a mode off that was entered here, from below others if need be; those notice nothing."""
    stack = _stack(mode)
    place = max(at for at, other in enumerate(stack) if other is mode)
    below, above = stack[:place], stack[place + 1 :]
    dispatch = isinstance(mode, TorchDispatchMode)
    pop: Callable[[], Any] = _python_dispatch._pop_mode if dispatch else _function_pop
    push: Callable[[Any], None] = _python_dispatch._push_mode if dispatch else _function_push
    for _ in (*above, mode):
        pop()
    for other in above:
        push(other)
    if dispatch:
        _noted.left(below, above)


class WithMode(TorchDispatchMode):
    """A dispatch mode for ``with`` in any thread.

    Torch notes modes that enter by themselves for all threads.
    """

    def __init__(self) -> None:
        TorchDispatchMode.__init__(self)

    def __enter__(self) -> Self:
        enter(self)
        return self

    def __exit__(self, *exception: object) -> None:
        leave(self)


class Hidden:
    """Modes that were taken off for a while."""

    __slots__ = ("_dispatch", "_function")

    def __init__(self) -> None:
        self._function: list[Any] = []
        self._dispatch: list[Any] = []
        self.hide(0, 0)

    def hide(self, functions: int, dispatches: int) -> None:
        """Take off what stands above two depths, except those modes that torch itself needs."""
        while function_depth() > functions:
            self._function.append(_function_pop())
        while dispatch_depth() > dispatches:
            top = _dispatch_at(dispatch_depth() - 1)
            # They stand below all others.
            if top.is_infra_mode():
                break
            self._dispatch.append(_python_dispatch._pop_mode())

    def show(self) -> tuple[int, int]:
        """Put all back; returns the depths of the stacks before."""
        depths = function_depth(), dispatch_depth()
        while self._function:
            _function_push(self._function.pop())
        while self._dispatch:
            _python_dispatch._push_mode(self._dispatch.pop())
        return depths


def hidden(ours: Collection[type]) -> Hidden | None:
    """Take the modes off, so that they do not see what a tool computes.

    :param ours: modes that look away by themselves.
    :returns: what puts them back; None where there is nothing to hide.
    """
    if not function_depth() and all(
        type(_dispatch_at(at)) in ours for at in range(dispatch_depth())
    ):
        return None
    return Hidden()
