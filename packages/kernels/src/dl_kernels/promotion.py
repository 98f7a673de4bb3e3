"""Rules of type promotion for ``dl_kernels/promotion.h``, derived from the schema."""

from __future__ import annotations

from dataclasses import dataclass

from diopi_proto import promotion as rules
from diopi_proto.schema import load

__all__ = ["Promotion", "promotion"]


@dataclass(frozen=True)
class Promotion:
    """A rule of ``dl_kernels/promotion.h``; its string is the C++ initializer.

    :ivar operands: indices of the promoted arguments, not counting the context.
    :ivar result: index of the argument with the result.
    :ivar kind: conversion of the result, a ``PromotedResult``.
    :ivar floating: integers are converted to float32.
    """

    operands: tuple[int, ...]
    result: int
    kind: str
    floating: bool

    def __str__(self) -> str:
        bits = sum(1 << operand for operand in self.operands)
        floating = str(self.floating).lower()
        return f"{bits}, {self.result}, PromotedResult::{self.kind}, {floating}"


def promotion(name: str) -> Promotion | None:
    """Return the rule of an operator; None if its tensors are not promoted."""
    rule = rules.promotion(name)
    if rule is None:
        return None
    indices = {x.name: index for index, x in enumerate(load()[name].params[1:])}
    operands = tuple(indices[x] for x in rule.operands)
    return Promotion(operands, indices[rule.result], f"k{rule.kind.capitalize()}", rule.floating)
