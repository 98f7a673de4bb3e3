"""Torch's stacks of modes: one is taken off from anywhere, and all are kept from seeing our work.

Modes are met from the top of a stack. Torch takes them off from there only.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import torch
from torch.utils import _python_dispatch
from torch.utils._python_dispatch import TorchDispatchMode

function_depth = torch._C._len_torch_function_stack
_function_at = torch._C._get_function_stack_at
_function_pop = torch._C._pop_torch_function_stack
_function_push = torch._C._push_on_torch_function_stack
dispatch_depth = torch._C._len_torch_dispatch_stack
_dispatch_at = torch._C._get_dispatch_stack_at

_FLAGS = (
    "old_dispatch_mode_flags",
    "old_non_infra_dispatch_mode_flags",
    "old_without_ignore_compile_internals_dispatch_mode_flags",
)
"""What a dispatch mode remembers of torch's state before it was entered."""


def _stack(mode: Any) -> list[Any]:
    if isinstance(mode, TorchDispatchMode):
        return [_dispatch_at(at) for at in range(dispatch_depth())]
    return [_function_at(at) for at in range(function_depth())]


def on_stack(mode: Any) -> bool:
    """Whether a function mode or a dispatch mode meets calls of this thread now."""
    return any(other is mode for other in _stack(mode))


def enter(mode: Any) -> None:
    """Put a mode on top of its stack."""
    mode.__enter__()


def leave(mode: Any) -> None:
    """Take a mode off its stack, from below others if need be; those notice nothing."""
    stack = _stack(mode)
    place = max(at for at, other in enumerate(stack) if other is mode)
    above = stack[place + 1 :]
    if not above:
        mode.__exit__(None, None, None)
    elif isinstance(mode, TorchDispatchMode):
        # The next mode puts back what it found when it was entered, which is what we left there:
        # now it has to put back what we found.
        heir = above[0]
        turn = sum(other is heir for other in stack[:place])
        for flags in _FLAGS:
            getattr(heir, flags)[turn] = getattr(mode, flags).pop()
        for _ in (*above, mode):
            _python_dispatch._pop_mode()
        for other in above:
            _python_dispatch._push_mode(other)
    else:
        for _ in (*above, mode):
            _function_pop()
        for other in above:
            _function_push(other)


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
