"""Pattern for a matrix product followed by an addition."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from dl_dicp.patterns.pattern import PRIVATE, PRIVATE_WORDS, Case, Cases, Declined, Match
from dl_dicp.patterns.sequence import Calls, is_contiguous, is_one, reshaped, same_sizes, scalar
from dl_dicp.recording.calls import Call
from dl_dicp.recording.memory import Ref


class LinearBias:
    """``x @ w + b``  ->  ``diopiAddmm``, where ``b`` is a row or has the shape of the product"""

    name = "linear-bias"
    default = True
    conditions: Mapping[str, str] = {
        "alpha": "alpha scales a summand",
        "broadcast": "the added tensor is neither a row nor a tensor of the product's shape",
        PRIVATE: PRIVATE_WORDS,
    }

    def match(self, calls: Calls, last: int) -> Match | Declined | None:
        """See :class:`.pattern.Pattern`."""
        end = calls[last]
        if end.operator != "diopiAdd":
            return None
        out = end.arguments["out"]
        for side, rest in (("input", "other"), ("other", "input")):
            product = calls.writer(end.arguments[side], last, "diopiMm")
            if product is None:
                continue
            added, made = end.arguments[rest], calls[product].arguments
            if added.dtype != made["out"].dtype:
                return None  # the contract does not guarantee that the vendor converts dtypes
            if not is_one(end.arguments["alpha"]):
                return Declined("alpha")
            row = same_sizes(added.shape, made["out"].shape[1:]) and same_sizes(
                out.shape, end.arguments[side].shape
            )
            if not row and not self._whole(added, out, end.arguments[side]):
                return Declined("broadcast")
            arguments = {
                "out": reshaped(out, made["out"].shape),
                "input": added if row else reshaped(added, made["out"].shape),
                "mat1": made["input"],
                "mat2": made["mat2"],
                "beta": scalar(1),
                "alpha": scalar(1),
            }
            return Match(frozenset((product, last)), Call("diopiAddmm", arguments))
        return None

    @staticmethod
    def _whole(added: Ref, out: Ref, product: Ref) -> bool:
        alike = same_sizes(added.shape, out.shape) and same_sizes(out.shape, product.shape)
        return alike and is_contiguous(added)

    def cases(self) -> Cases:
        """See :class:`.pattern.Pattern`."""
        rand = torch.rand

        def add(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
            return x @ w + b

        def row() -> tuple[torch.Tensor, ...]:
            return rand(2, 4, 8), rand(8, 5), rand(5)

        def uses_intermediate(
            x: torch.Tensor, w: torch.Tensor, b: torch.Tensor
        ) -> tuple[torch.Tensor, torch.Tensor]:
            product = x @ w
            return product, product + b

        return Cases(
            fires=(
                Case(add, row),
                Case(lambda x, w, b: b + x @ w, lambda: (rand(2, 4, 8), rand(8, 5), rand(2, 4, 5))),
            ),
            declines={
                "alpha": Case(lambda x, w, b: torch.add(x @ w, b, alpha=2), row),
                "broadcast": Case(add, lambda: (rand(4, 8), rand(8, 5), rand(4, 1))),
                PRIVATE: Case(uses_intermediate, row),
            },
        )
