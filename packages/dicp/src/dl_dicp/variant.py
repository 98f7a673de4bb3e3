"""Variants: programs of an FX graph, each with the argument layouts that it serves."""

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

    :ivar others: properties (see :func:`look_of`) of arguments that are neither integers nor dense
        tensors of the device, by index.
    :ivar passed: properties (see :func:`look_of_passed`) of arguments that no operator reads.
    :ivar numbers: host scalars among the arguments, which the program contains as constants.
    :ivar program: the program; None if the variant runs eagerly, because of ``reason``.
    :ivar tried: the sizes of the first check. The program is compared with eager mode at a second
        tuple of sizes before it serves further sizes; None after that, or if it serves one layout.
    :ivar fixed: why the program serves one layout although sizes of the graph vary.
    :ivar broken: function that returns why arguments that the program should serve are not served:
        a derived size expression was wrong.
    :ivar rewriting: result of the patterns; None if the variant runs eagerly.
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
    """Return the properties that an argument must have if no operator reads it."""
    if isinstance(value, torch.Tensor):
        return type(value), value.device, value.dtype, value.layout
    return (type(value),)
