"""Pattern for root-mean-square normalization written out elementwise."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch import Tensor

from dl_dicp.patterns.pattern import PRIVATE, PRIVATE_WORDS, Case, Cases, Declined, Match
from dl_dicp.patterns.sequence import Calls, alike, is_contiguous, is_one, number, same_sizes
from dl_dicp.recording.calls import Call
from dl_dicp.recording.memory import Ref


class RmsNorm:
    """``x * rsqrt(mean(x ** 2, -1, keepdim=True) + eps) * weight``  ->  ``diopiRMSNorm``

    The reciprocal root mean squares may be used elsewhere, for example in a backward pass.
    """

    name = "rms-norm"
    default = True
    conditions: Mapping[str, str] = {
        "dimension": "the mean is not taken over the last dimension",
        "weight": "the weight is not a row of the last dimension",
        PRIVATE: PRIVATE_WORDS,
    }

    def match(self, calls: Calls, last: int) -> Match | Declined | None:
        """See :class:`.pattern.Pattern`."""
        end = calls[last]
        if end.operator != "diopiMul":
            return None
        for side, rest in (("input", "other"), ("other", "input")):
            scaled = calls.writer(end.arguments[side], last, "diopiMul")
            if scaled is not None and (found := self._norm(calls, scaled)) is not None:
                x, roots, eps, dimensions, members = found
                weight, out = end.arguments[rest], end.arguments["out"]
                if tuple(dimensions) not in ((len(x.shape) - 1,), (-1,)):
                    return Declined("dimension")
                if not (same_sizes(weight.shape, x.shape[-1:]) and is_contiguous(weight)):
                    return Declined("weight")
                if any(each.dtype != x.dtype for each in (weight, out, roots)):
                    return None  # the contract does not guarantee that the vendor converts dtypes
                arguments = {
                    "out": out,
                    "inv_rms": roots,
                    "input": x,
                    "normalized_shape": list(x.shape[-1:]),
                    "weight": weight,
                    "bias": None,
                    "eps": float(eps).hex(),
                }
                return Match(members | {last}, Call("diopiRMSNorm", arguments))
        return None

    @staticmethod
    def _norm(
        calls: Calls, scaled: int
    ) -> tuple[Ref, Ref, float, list[int], frozenset[int]] | None:
        """Match the product of a tensor with its reciprocal root mean squares."""
        given = calls[scaled].arguments
        x, roots = given["input"], given["other"]
        if (root := calls.writer(roots, scaled, "diopiRsqrt")) is None:
            x, roots = roots, x
            root = calls.writer(roots, scaled, "diopiRsqrt")
        if root is None:
            return None
        shifted = calls.writer(calls[root].arguments["input"], root, "diopiAddScalar")
        if shifted is None or not is_one(calls[shifted].arguments["alpha"]):
            return None
        mean = calls.writer(calls[shifted].arguments["input"], shifted, "diopiMean")
        if mean is None:
            return None
        square = calls.writer(calls[mean].arguments["input"], mean, "diopiPow", "diopiMul")
        if square is None or not _is_square(calls[square], x):
            return None
        eps = number(calls[shifted].arguments["other"])
        members = frozenset((scaled, root, shifted, mean, square))
        return x, roots, eps, calls[mean].arguments["dim"], members

    def cases(self) -> Cases:
        """See :class:`.pattern.Pattern`."""

        def norm(x: Tensor, weight: Tensor, dim: int = -1) -> Tensor:
            return x * torch.rsqrt(x.pow(2).mean(dim, keepdim=True) + 1e-6) * weight

        def inputs(*weight: int) -> Callable[[], tuple[Tensor, Tensor]]:
            return lambda: (torch.rand(2, 6, 8), torch.rand(weight))

        def uses_intermediate(x: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
            normed = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
            return normed, weight * normed

        def roots(x: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
            found = torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6)
            return found, weight * (x * found)

        return Cases(
            fires=(Case(norm, inputs(8)), Case(roots, inputs(8))),
            declines={
                "dimension": Case(lambda x, weight: norm(x, weight, 1), inputs(8)),
                "weight": Case(norm, inputs(6, 8)),
                PRIVATE: Case(uses_intermediate, inputs(8)),
            },
        )


def _is_square(call: Call, x: Ref) -> bool:
    given = call.arguments
    if not alike(given["input"], x):
        return False
    if call.operator == "diopiMul":
        return alike(given["other"], x)
    return isinstance(given["exponent"], dict) and number(given["exponent"]) == 2
