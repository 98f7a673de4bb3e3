"""Access to torch's stacks of modes: removal from any position, and hiding of the tools' own work.

Calls go through the modes from the top of a stack. Torch only removes the top one.
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
"""Torch's global flags about dispatch modes, and the attributes in which each mode saves their
previous values."""


class _DispatchFlags:
    """Torch's flags without our modes: threads enter and leave them in any order."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._modes = 0
        self._before = [False] * len(_FLAGS)

    def pushed(self) -> None:
        with self._lock:
            if self._modes == 0:
                self._before = [getattr(_python_dispatch, name) for name in _FLAGS]
                self._note([True] * len(_FLAGS))
            self._modes += 1

    def removed(self, below: list[Any], above: list[Any]) -> None:
        """Update the flags after a mode was removed from between others."""
        with self._lock:
            self._modes -= 1
            if self._modes:
                return
            if not above:
                self._note(self._before)
                return
            # The next mode would restore the values that we set; make it restore those that we
            # saved.
            heir = above[0]
            turn = sum(other is heir for other in below)
            for kept, value in zip(_FLAGS.values(), self._before, strict=True):
                getattr(heir, kept)[turn] = value

    def _note(self, values: list[bool]) -> None:
        for name, value in zip(_FLAGS, values, strict=True):
            setattr(_python_dispatch, name, value)
        set_is_in_mode_without_ignore_compile_internals(values[-1])


_noted = _DispatchFlags()


def _stack(mode: Any) -> list[Any]:
    if isinstance(mode, TorchDispatchMode):
        return [_dispatch_at(at) for at in range(dispatch_depth())]
    return [_function_at(at) for at in range(function_depth())]


def on_stack(mode: Any) -> bool:
    """Return True if a function mode or a dispatch mode is active in this thread."""
    return any(other is mode for other in _stack(mode))


def enter(mode: Any) -> None:
    """Push a mode onto its stack."""
    if isinstance(mode, TorchDispatchMode):
        _noted.pushed()
        _python_dispatch._push_mode(mode)
    else:
        _function_push(mode)


def leave(mode: Any) -> None:
    """Remove a mode that was entered by :func:`enter`, from any position of its stack."""
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
        _noted.removed(below, above)


class WithMode(TorchDispatchMode):
    """A dispatch mode for ``with`` in any thread.

    Torch sets its flags for all threads when a mode enters by itself.
    """

    def __init__(self) -> None:
        TorchDispatchMode.__init__(self)

    def __enter__(self) -> Self:
        enter(self)
        return self

    def __exit__(self, *exception: object) -> None:
        leave(self)


class HiddenModes:
    """Modes that were removed temporarily."""

    __slots__ = ("_dispatch", "_function")

    def __init__(self) -> None:
        self._function: list[Any] = []
        self._dispatch: list[Any] = []
        self.hide(0, 0)

    def hide(self, functions: int, dispatches: int) -> None:
        """Remove the modes above two depths, except those that torch itself needs."""
        while function_depth() > functions:
            self._function.append(_function_pop())
        while dispatch_depth() > dispatches:
            top = _dispatch_at(dispatch_depth() - 1)
            # Torch's own modes are below all others.
            if top.is_infra_mode():
                break
            self._dispatch.append(_python_dispatch._pop_mode())

    def show(self) -> tuple[int, int]:
        """Restore all modes; return the depths of the stacks before."""
        depths = function_depth(), dispatch_depth()
        while self._function:
            _function_push(self._function.pop())
        while self._dispatch:
            _python_dispatch._push_mode(self._dispatch.pop())
        return depths


def hide_modes(ours: Collection[type]) -> HiddenModes | None:
    """Remove the modes, so that they do not observe a tool's own work.

    :param ours: types of modes that ignore it by themselves.
    :returns: an object that restores them; None if there is nothing to hide.
    """
    if not function_depth() and all(
        type(_dispatch_at(at)) in ours for at in range(dispatch_depth())
    ):
        return None
    return HiddenModes()
