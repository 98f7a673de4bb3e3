"""Pattern for attention written out as matrix products and softmax."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch import Tensor

from dl_dicp.patterns.pattern import PRIVATE, PRIVATE_WORDS, Case, Cases, Declined, Match
from dl_dicp.patterns.sequence import Calls, is_one, number, same_sizes
from dl_dicp.recording.calls import Call
from dl_dicp.recording.memory import Ref
from dl_dicp.sizes.proof import same
from dl_graph.expression import combine

FEWEST_QUERIES = 32
"""Minimum number of queries. The CPU vendor's fused operator took 3.7 times as long as separate
calls with one query, 1.7 times with 8, 1.1 times with 16, and 0.7 times with 32."""


class Attention:
    """``softmax(q @ k.T * scale + mask, -1) @ v``  ->  ``dlopAttention``

    The scale and the mask are optional.
    """

    name = "attention"
    default = True
    conditions: Mapping[str, str] = {
        "dimension": "the softmax is not taken over the keys",
        "queries": f"separate calls are faster for fewer than {FEWEST_QUERIES} queries",
        "mask": "the term added to the scores is not a mask of their dtype that broadcasts to them",
        PRIVATE: PRIVATE_WORDS,
    }

    def match(self, calls: Calls, last: int) -> Match | Declined | None:
        """See :class:`.pattern.Pattern`."""
        end = calls[last]
        if end.operator != "diopiBmm":
            return None
        weights = calls.writer(end.arguments["input"], last, "diopiSoftmax")
        if weights is None:
            return None
        scores = calls[weights].arguments["input"]
        mask: Ref | None = None
        members = [weights, last]
        if (masked := calls.writer(scores, weights, "diopiAdd")) is not None:
            members.append(masked)
            scores, mask = (calls[masked].arguments[x] for x in ("input", "other"))
        before = members[-1] if mask is not None else weights
        scale = 1.0
        scaled = calls.writer(scores, before, "diopiMulScalar", "diopiDivScalar")
        if scaled is not None:
            members.append(scaled)
            factor = number(calls[scaled].arguments["other"])
            scale = 1 / factor if calls[scaled].operator == "diopiDivScalar" else factor
            if calls[scaled].arguments.get("rounding_mode", "RoundModeNone") != "RoundModeNone":
                return None
            scores, before = calls[scaled].arguments["input"], scaled
        product = calls.writer(scores, before, "diopiBmm")
        if product is None:
            return None
        return self._fused(calls, frozenset((*members, product)), product, scores, mask, scale)

    def _fused(
        self,
        calls: Calls,
        members: frozenset[int],
        product: int,
        scores: Ref,
        mask: Ref | None,
        scale: float,
    ) -> Match | Declined | None:
        end = calls[max(members)]
        batch, queries, keys = calls[product].arguments["out"].shape
        softmax = next(calls[x] for x in members if calls[x].operator == "diopiSoftmax")
        heads = scores.shape[1] if len(scores.shape) == 4 else 1
        if len(scores.shape) not in (3, 4) or not same_sizes(scores.shape[-2:], (queries, keys)):
            return None
        if not same(combine("*", combine("//", batch, heads), heads), batch):
            return None
        if softmax.arguments["dim"] not in (len(scores.shape) - 1, -1):
            return Declined("dimension")
        if mask is not None and not self._is_mask(calls, members, mask, scores):
            return Declined("mask")
        if not calls.at_least(queries, FEWEST_QUERIES):
            return Declined("queries")

        def split(ref: Ref) -> Ref:
            (_, *shape), (step, *strides) = ref.shape, ref.strides
            lead = (combine("//", batch, heads), heads)
            return Ref(
                ref.block, ref.dtype, (*lead, *shape), (step * heads, step, *strides), ref.offset
            )

        given = calls[product].arguments
        arguments = {
            "out": split(end.arguments["out"]),
            "lse": None,
            "q": split(given["input"]),
            "k": split(_transpose(given["mat2"])),
            "v": split(end.arguments["mat2"]),
            "mask": None if mask is None else _as_mask(mask, len(scores.shape)),
            "scale": float(scale).hex(),
            "is_causal": False,
        }
        return Match(members, Call("dlopAttention", arguments))

    @staticmethod
    def _is_mask(calls: Calls, members: frozenset[int], mask: Ref, scores: Ref) -> bool:
        add = next(calls[x] for x in members if calls[x].operator == "diopiAdd")
        padded = (1,) * (len(scores.shape) - len(mask.shape)) + mask.shape
        return (
            is_one(add.arguments["alpha"])
            and mask.dtype == scores.dtype
            and len(padded) == len(scores.shape)
            and all(a == 1 or same(a, b) for a, b in zip(padded, scores.shape, strict=True))
        )

    def cases(self) -> Cases:
        """See :class:`.pattern.Pattern`."""

        def attend(
            q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None, dim: int = -1
        ) -> Tensor:
            scores = q @ k.transpose(-1, -2) / 4.0
            return torch.softmax(scores if mask is None else scores + mask, dim) @ v

        def inputs(*mask: int) -> Callable[[], tuple[Tensor, ...]]:
            def make() -> tuple[Tensor, ...]:
                three = tuple(torch.rand(2, 3, 32, 16) for _ in range(3))
                return (*three, torch.rand(mask)) if mask else three

            return make

        def uses_intermediate(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
            weights = torch.softmax(q @ k.transpose(-1, -2) * 0.25, -1)
            return weights, weights @ v

        def flat(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
            return torch.softmax(q[0] @ k[0].transpose(-1, -2), -1) @ v[0]

        return Cases(
            fires=(
                Case(attend, inputs()),
                Case(attend, inputs(32, 32)),
                Case(attend, inputs(2, 1, 1, 32)),
                Case(flat, inputs()),
            ),
            declines={
                "dimension": Case(lambda q, k, v: attend(q, k, v, dim=-2), inputs()),
                "mask": Case(
                    lambda q, k, v, m: torch.softmax(torch.add(q @ k.mT, m, alpha=2), -1) @ v,
                    inputs(32, 32),
                ),
                "queries": Case(lambda q, k, v: attend(q[:, :, :31], k, v), inputs()),
                PRIVATE: Case(uses_intermediate, inputs()),
            },
        )


def _transpose(ref: Ref) -> Ref:
    """Return a matrix, or a batch of matrices, with its last two dimensions exchanged."""
    order = (*range(len(ref.shape) - 2), -1, -2)
    shape, strides = (tuple(each[x] for x in order) for each in (ref.shape, ref.strides))
    return Ref(ref.block, ref.dtype, shape, strides, ref.offset)


def _as_mask(mask: Ref, rank: int) -> Ref:
    """Return the mask for scores of this rank; scores without heads become [N, 1, S, T]."""
    if rank == 4 or len(mask.shape) < 3:
        return mask
    shape, strides = ((x[0], 1, *x[1:]) for x in (mask.shape, mask.strides))
    return Ref(mask.block, mask.dtype, tuple(shape), tuple(strides), mask.offset)
