"""Variants: programs of an FX graph, with the arguments that each serves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch

from dl_dicp.patterns.rewrite import Rewriting
from dl_dicp.program.compiled_program import Program
from dl_dicp.recording.scalars import value_text


@dataclass
class Variant:
    """Program of a graph for one layout of its arguments, or for all of their sizes.

    :ivar others: how arguments look that are neither integers nor dense tensors of the device.
    :ivar passed: the same of those that no operator reads.
    :ivar numbers: arguments that are host scalars, which its program has as constants.
    :ivar program: None: it runs eagerly, for ``reason``.
    :ivar tried: the sizes that it gave the right results at before others are served, which it is
        compared with eager mode at once more; None: it was, or serves one layout.
    :ivar fixed: why it is for one layout, where sizes of the graph vary.
    :ivar broken: what tells why a call is not served that was meant to be: an expression of a size
        has turned out wrong.
    :ivar rewriting: what patterns did to it; None: it runs eagerly.
    """

    guard: Any
    others: dict[int, Any]
    shapes: list[Any]
    numbers: dict[int, str]
    program: Program | None = None
    reason: str = ""
    tried: tuple[int, ...] | None = None
    fixed: str = ""
    rewriting: Rewriting | None = None
    broken: Callable[[list[Any]], str] = lambda _: ""
    passed: dict[int, Any] = field(default_factory=dict)

    def serves(self, arguments: list[Any]) -> tuple[int, ...] | None:
        """Return the sizes of the program's symbols; None if it does not serve these arguments."""
        sizes: tuple[int, ...] | None = self.guard.sizes(arguments)
        if sizes is None or not all(look_of(arguments[i]) == x for i, x in self.others.items()):
            return None
        if any(look_of_passed(arguments[i]) != x for i, x in self.passed.items()):
            return None
        if any(value_text(arguments[i]) != x for i, x in self.numbers.items()):
            return None
        return sizes


def look_of(value: Any) -> tuple[Any, ...]:
    """Return the properties that an argument must have: layout of a tensor, or value."""
    if isinstance(value, torch.Tensor):
        return type(value), value.device, value.dtype, value.layout, tuple(value.shape)
    return type(value), value


def look_of_passed(value: Any) -> tuple[Any, ...]:
    """Return the same of an argument that no operator reads."""
    if isinstance(value, torch.Tensor):
        return type(value), value.device, value.dtype, value.layout
    return (type(value),)
