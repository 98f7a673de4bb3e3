"""Attention of packed sequences, computed separately for each sequence.

For sources, see the references of attention.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from dl_conformance.philox import State
from dl_conformance.reference import UNSPECIFIED, Array, Expected, reference
from dl_conformance.references.attention import (
    GRADIENTS,
    STORED,
    Flash,
    Scores,
    dropout_mask,
    dropped,
)


def _one(x: Array, part: slice) -> Array:
    """Return a sequence as [1, H, S, D]."""
    return x[part].swapaxes(0, 1)[None]


@dataclass(frozen=True)
class Packed:
    """Packed sequences: sequence i has rows `ends`[i] to `ends`[i + 1] of queries and of keys.

    :ivar mask: True masks a key; broadcasts to `numbered`.
    :ivar numbered: shape of the weights: sequences, heads and maximum lengths.
    """

    q: Array
    k: Array
    v: Array
    ends_q: Sequence[int]
    ends_k: Sequence[int]
    longest: tuple[int, int]
    options: Flash
    p: Any
    state: State | None
    mask: Any = None

    @property
    def numbered(self) -> tuple[int, ...]:
        return (len(self.ends_q) - 1, self.q.shape[1], *self.longest)

    def parts(self) -> list[tuple[slice, slice]]:
        sides = (self.ends_q, self.ends_k)
        spans = ([slice(a, b) for a, b in pairwise(x)] for x in sides)
        return list(zip(*spans, strict=True))

    def scores(self) -> list[Scores]:
        """Yield the scores of each sequence."""
        factors = dropped(self.p, self.state, self.numbered)
        hidden = None
        if self.mask is not None:
            hidden = np.broadcast_to(self.mask.astype(bool), self.numbered)
        found = []
        for n, (of_q, of_k) in enumerate(self.parts()):
            queries, keys = of_q.stop - of_q.start, of_k.stop - of_k.start
            one = slice(n, n + 1)
            seen = (one, slice(None), slice(queries), slice(keys))
            added = self.options.added(queries, keys, one)
            if hidden is not None:
                added = np.where(hidden[seen], -np.inf, added)
            tensors = (_one(self.q, of_q), _one(self.k, of_k), _one(self.v, of_k))
            found.append(Scores.of(*tensors, self.options.scale, added, factors[seen]))
        return found

    def joined(self, each: Sequence[Expected], like: Array, width: int) -> Expected:
        """Return the results of all sequences, [rows, H, D]."""
        shape = (*like.shape[:2], width)
        value, size = np.zeros(shape, np.longdouble), np.zeros(shape, np.longdouble)
        sides = self.parts()
        side = 0 if like is self.q else 1
        for part, one in zip((x[side] for x in sides), each, strict=True):
            value[part] = np.asarray(one.value)[0].swapaxes(0, 1)
            size[part] = np.asarray(one.magnitude)[0].swapaxes(0, 1)
        return Expected(value, self.length(each), size)

    @staticmethod
    def length(each: Sequence[Expected]) -> int:
        return max((int(np.max(x.length)) for x in each), default=1)

    def logs(self, each: Sequence[Expected], shape: tuple[int, ...], place: Any) -> Expected:
        value, size = np.zeros(shape, np.longdouble), np.zeros(shape, np.longdouble)
        for n, one in enumerate(each):
            value[place(n)] = np.asarray(one.value)[0]
            size[place(n)] = np.asarray(one.magnitude)[0]
        return Expected(value, self.length(each), size, op_class="reduction")

    def row_of(self, n: int) -> tuple[slice, slice]:
        """Return the index of a sequence in statistics [H, rows]."""
        return slice(None), self.parts()[n][0]

    def place_of(self, n: int) -> tuple[int, slice, slice]:
        """Return the index of a sequence in statistics [N, H, longest]."""
        part = self.parts()[n][0]
        return n, slice(None), slice(part.stop - part.start)

    def statistics_of(self, dims: int) -> Callable[[int], Any]:
        """Return the function that indexes statistics with a number of dimensions."""
        return self.place_of if dims == 3 else self.row_of

    def forward(self) -> tuple[Expected, list[Expected]]:
        """Return the output, and the logsumexp of each sequence."""
        found = [x.forward() for x in self.scores()]
        out = self.joined([x[0] for x in found], self.q, self.v.shape[2])
        return out, [x[1] for x in found]

    def backward(
        self, out: Array, grad: Array, lse: Callable[[int, Scores], Array]
    ) -> dict[str, Expected]:
        """
        :param lse: function that returns the logsumexp of a sequence, [H, S].
        """
        found = []
        for n, scores in enumerate(self.scores()):
            part = self.parts()[n][0]
            found.append(scores.backward(_one(out, part), lse(n, scores)[None], _one(grad, part)))
        tensors = (self.q, self.k, self.v)
        return {
            name: self.joined([x[at] for x in found], tensor, tensor.shape[2])
            for at, (name, tensor) in enumerate(zip(GRADIENTS, tensors, strict=True))
        }


def _multi_head(
    q: Array,
    k: Array,
    v: Array,
    cum_seq_q: Array,
    cum_seq_k: Array,
    max_q: int,
    max_k: int,
    dropout_p: float,
    is_causal: bool,
    scale: float,
    gen: State | None,
) -> Packed:
    options = Flash(np.longdouble(scale), is_causal)
    return Packed(
        q, k, v, list(cum_seq_q), list(cum_seq_k), (max_q, max_k), options, dropout_p, gen
    )


@reference("diopiMultiHeadAttentionVarLen")
def multi_head(*, return_debug_mask: bool = False, **given: Any) -> dict[str, Any]:
    packed = _multi_head(**given)
    out, lse = packed.forward()
    kept = dropout_mask(packed.p, packed.state, packed.numbered)
    return {
        "out": out,
        "softmax_lse": packed.logs(lse, packed.numbered[:3], packed.place_of),
        "debug_attn_mask": Expected(kept, op_class="exact"),
    }


@reference("diopiMultiHeadAttentionVarLenBackward")
def multi_head_backward(
    *, grad_out: Array, out: Array, softmax_lse: Array, **given: Any
) -> dict[str, Any]:
    packed = _multi_head(**given)
    return packed.backward(out, grad_out, lambda n, scores: softmax_lse[packed.place_of(n)])


def _flash(
    q: Array,
    k: Array,
    v: Array,
    ends: tuple[Sequence[int], Sequence[int]],
    gen: State | None,
    given: dict[str, Any],
    mask: Any = None,
) -> Packed:
    longest = (given["max_seqlen_q"], given["max_seqlen_kv"])
    p = np.float32(given["p_dropout"])
    return Packed(q, k, v, *ends, longest, Flash.of(given), p, gen, mask)


@reference("diopiFlashAttentionVarLen")
def flash(
    *,
    q: Array,
    k: Array,
    v: Array,
    cum_seq_q: Array,
    cum_seq_kv: Array,
    gen: State | None,
    softmax_lse: tuple[int, ...] | None = None,
    **given: Any,
) -> dict[str, Any]:
    packed = _flash(q, k, v, (list(cum_seq_q), list(cum_seq_kv)), gen, given)
    out, lse = packed.forward()
    shape = (q.shape[1], q.shape[0]) if softmax_lse is None else softmax_lse
    logs = packed.logs(lse, shape, packed.statistics_of(len(shape)))
    return {"attention_out": out, "softmax_lse": logs}


@reference("diopiFlashAttentionVarLenBackward")
def flash_backward(
    *,
    grad_output: Array,
    q: Array,
    k: Array,
    v: Array,
    cum_seq_q: Array,
    cum_seq_kv: Array,
    gen: State | None,
    attention_out: Array,
    softmax_lse: Array,
    **given: Any,
) -> dict[str, Any]:
    packed = _flash(q, k, v, (list(cum_seq_q), list(cum_seq_kv)), gen, given)
    place = packed.statistics_of(softmax_lse.ndim)
    return packed.backward(attention_out, grad_output, lambda n, scores: softmax_lse[place(n)])


@reference("diopiCustomizedFlashAttentionVarLen")
def customized(
    *,
    q: Array,
    k: Array,
    v: Array,
    cum_seq_q: tuple[int, ...],
    cum_seq_kv: tuple[int, ...],
    gen: State | None,
    attention_mask: Any,
    **given: Any,
) -> dict[str, Any]:
    packed = _flash(q, k, v, ((0, *cum_seq_q), (0, *cum_seq_kv)), gen, given, attention_mask)
    return {"attention_out": packed.forward()[0], **dict.fromkeys(STORED, UNSPECIFIED)}


@reference("diopiCustomizedFlashAttentionVarLenBackward")
def customized_backward(
    *,
    grad_output: Array,
    q: Array,
    k: Array,
    v: Array,
    cum_seq_q: tuple[int, ...],
    cum_seq_kv: tuple[int, ...],
    attention_out: Array,
    attention_mask: Any,
    dropout_mask: Any,
    softmax_max: Any,
    softmax_sum: Any,
    softmax_out: Any,
    **given: Any,
) -> dict[str, Any]:
    """Return the gradients, with the generator of the vendor's own forward pass."""
    ends, state = ((0, *cum_seq_q), (0, *cum_seq_kv)), softmax_out["gen"]
    packed = _flash(q, k, v, ends, state, given, attention_mask)
    return packed.backward(attention_out, grad_output, lambda n, scores: scores.lse()[0])
