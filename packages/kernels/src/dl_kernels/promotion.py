"""Which arguments of an operator are brought to one dtype, as ``dl_kernels/promotion.h`` has it."""

from __future__ import annotations

from dataclasses import dataclass

from diopi_proto import promotion as rules
from diopi_proto.schema import load

__all__ = ["Promotion", "promotion"]


@dataclass(frozen=True)
class Promotion:
    """The rule of ``dl_kernels/promotion.h``, written as its initialiser.

    :ivar operands: the arguments that take part, counted without the context.
    :ivar result: the argument with the result.
    :ivar kind: what becomes of the result: a ``PromotedResult``.
    :ivar floating: integers are taken as float32.
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
    """The rule of an operator; None where all its tensors have dtypes of their own."""
    rule = rules.promotion(name)
    if rule is None:
        return None
    places = {x.name: place for place, x in enumerate(load()[name].params[1:])}
    operands = tuple(places[x] for x in rule.operands)
    return Promotion(operands, places[rule.result], f"k{rule.kind.capitalize()}", rule.floating)
