"""Pattern for a product that is added to a tensor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from dl_dicp.patterns.pattern import PRIVATE, PRIVATE_WORDS, Case, Cases, Declined, Match
from dl_dicp.patterns.sequence import Calls, number, same_sizes, scalar
from dl_dicp.recording.calls import Call


class MultiplyAdd:
    """``c + alpha * (a * b)``  ->  ``diopiAddcmul``"""

    name = "multiply-add"
    default = True
    conditions: Mapping[str, str] = {
        "alpha": "alpha scales the operand of the sum that is not the product",
        "broadcast": "the product has a smaller shape than the sum",
        PRIVATE: PRIVATE_WORDS,
    }

    def match(self, calls: Calls, last: int) -> Match | Declined | None:
        """See :class:`.pattern.Pattern`."""
        end = calls[last]
        if end.operator != "diopiAdd":
            return None
        out, alpha = end.arguments["out"], number(end.arguments["alpha"])
        for side, rest in (("other", "input"), ("input", "other")):
            product = calls.writer(end.arguments[side], last, "diopiMul")
            if product is None:
                continue
            made = calls[product].arguments
            tensors = (end.arguments[rest], made["input"], made["other"])
            if any(each.dtype != out.dtype for each in (*tensors, made["out"])):
                return None  # the contract does not guarantee that the vendor converts dtypes
            if side == "input" and alpha != 1:
                return Declined("alpha")
            if not same_sizes(end.arguments[side].shape, out.shape):
                return Declined("broadcast")
            if not same_sizes(made["out"].shape, out.shape):
                return None
            arguments: dict[str, Any] = {
                "out": out,
                "input": tensors[0],
                "tensor1": tensors[1],
                "tensor2": tensors[2],
                "value": scalar(alpha),
            }
            return Match(frozenset((product, last)), Call("diopiAddcmul", arguments))
        return None

    def cases(self) -> Cases:
        """See :class:`.pattern.Pattern`."""
        rand = torch.rand

        def three() -> tuple[Any, ...]:
            return rand(4, 8), rand(4, 8), rand(4, 8)

        def uses_intermediate(a: Any, b: Any, c: Any) -> tuple[Any, Any]:
            product = a * b
            return product, product + c

        return Cases(
            fires=(
                Case(lambda a, b, c: a * b + c, three),
                Case(lambda a, b, c: torch.add(c, a * b, alpha=-2), three),
            ),
            declines={
                "alpha": Case(lambda a, b, c: torch.add(a * b, c, alpha=3), three),
                "broadcast": Case(
                    lambda a, b, c: a * b + c, lambda: (rand(8), rand(8), rand(4, 8))
                ),
                PRIVATE: Case(uses_intermediate, three),
            },
        )
