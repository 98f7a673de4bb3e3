"""Attention with materialized weights, and its gradients.

Sources: Vaswani et al., Attention is all you need, 2017; Dao, FlashAttention-2, 2023, for gradients
from the logsumexp; Press et al., Train short, test long, 2022, for ALiBi; Srivastava et al.,
Dropout, 2014, and docs/random.md of dl-diopi-proto for dropout.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dl_conformance.philox import State, chances
from dl_conformance.reference import UNSPECIFIED, Array, Expected, reference


@dataclass(frozen=True)
class Scores:
    """Scores of queries [N, H, S, D] and keys [N, Hk, T, D].

    :ivar factors: factors of the weights: 1, or the factors of dropout.
    """

    q: Array
    k: Array
    v: Array
    group: int
    value: Array
    size: Array
    scale: Any
    factors: Any = 1

    @classmethod
    def of(
        cls, q: Array, k: Array, v: Array, scale: Any, added: Any = 0, factors: Any = 1
    ) -> Scores:
        """
        :param added: bias of the scores; -inf masks a key.
        """
        group = q.shape[1] // k.shape[1]
        k, v = k.repeat(group, axis=1), v.repeat(group, axis=1)
        value = q @ k.swapaxes(-1, -2) * scale + added
        finite = np.where(np.isfinite(added), np.abs(added), 0)
        size = np.abs(q) @ np.abs(k).swapaxes(-1, -2) * np.abs(scale) + finite
        return cls(q, k, v, group, value, size, scale, factors)

    @property
    def length(self) -> int:
        return int(max(self.k.shape[2], self.q.shape[3], self.q.shape[2] * self.group)) + 4

    @property
    def spread(self) -> Array:
        """Bound of relative errors of weights: the absolute errors of a score and the maximum."""
        seen = np.where(np.isfinite(self.value), self.size, 0)
        return np.asarray(2 + 2 * seen.max(axis=-1, keepdims=True, initial=0))

    def lse(self) -> Array:
        """Return the logsumexp of the scores, [N, H, S]."""
        top = self.value.max(axis=-1, keepdims=True, initial=-np.inf)
        base = np.where(np.isfinite(top), top, 0)
        total = np.exp(self.value - base).sum(axis=-1, keepdims=True)
        return np.asarray((base + np.log(total))[..., 0])

    def weights(self, lse: Array) -> Array:
        """Return the weights; zeros for a query whose keys are all masked."""
        found = np.exp(self.value - np.where(np.isfinite(lse), lse, 0)[..., None])
        return np.asarray(np.where(np.isfinite(lse)[..., None], found, 0))

    def forward(self) -> tuple[Expected, Expected]:
        """Return the output [N, H, S, Dv] and the logsumexp."""
        lse = self.lse()
        weights = self.weights(lse) * self.factors
        size = weights @ np.abs(self.v) * self.spread
        sizes = np.where(np.isfinite(lse), np.abs(lse), 0) + self.spread[..., 0]
        logs = Expected(lse, self.length, sizes, op_class="reduction")
        return Expected(weights @ self.v, self.length, size), logs

    def backward(self, out: Array, lse: Array, grad: Array) -> tuple[Expected, ...]:
        """Return gradients of queries, keys and values from the stored results."""

        def folded(each: Array) -> Array:
            count = each.shape[1] // self.group
            heads = each.reshape(each.shape[0], count, self.group, *each.shape[2:])
            return np.asarray(heads.sum(axis=2))

        p = self.weights(lse)
        # The stored logsumexp is rounded too.
        spread = self.spread + np.where(np.isfinite(lse), np.abs(lse), 0)[..., None]
        incoming = grad @ self.v.swapaxes(-1, -2) * self.factors
        slope = p * (incoming - (out * grad).sum(axis=-1, keepdims=True))
        terms = np.abs(grad) @ np.abs(self.v).swapaxes(-1, -2) * self.factors
        terms = terms + (np.abs(out) * np.abs(grad)).sum(axis=-1, keepdims=True)
        size, sizes = p * terms * spread, p * spread * self.factors
        scale, back = np.abs(self.scale), (-1, -2)
        pairs = (
            (slope @ self.k * self.scale, size @ np.abs(self.k) * scale),
            (
                folded(slope.swapaxes(*back) @ self.q) * self.scale,
                folded(size.swapaxes(*back) @ np.abs(self.q)) * scale,
            ),
            (
                folded((p * self.factors).swapaxes(*back) @ grad),
                folded(sizes.swapaxes(*back) @ np.abs(grad)),
            ),
        )
        return tuple(Expected(value, 2 * self.length, total) for value, total in pairs)


def _mask(mask: Any, causal: bool, queries: int, keys: int) -> Array:
    added = np.zeros((queries, keys), np.longdouble)
    if causal:
        added = np.where(np.triu(np.ones((queries, keys), bool), 1), -np.inf, added)
    if mask is None:
        return added
    return np.asarray(added + (np.where(mask, 0, -np.inf) if mask.dtype == bool else mask))


@reference("dlopAttention")
def attention(
    *, q: Array, k: Array, v: Array, mask: Any, scale: float, is_causal: bool
) -> dict[str, Any]:
    added = _mask(mask, is_causal, q.shape[2], k.shape[2])
    out, lse = Scores.of(q, k, v, np.longdouble(scale), added).forward()
    return {"out": out, "lse": lse}


@reference("dlopAttentionBackward")
def attention_backward(
    *,
    grad_out: Array,
    q: Array,
    k: Array,
    v: Array,
    out: Array,
    lse: Array,
    mask: Any,
    scale: float,
    is_causal: bool,
) -> dict[str, Any]:
    added = _mask(mask, is_causal, q.shape[2], k.shape[2])
    found = Scores.of(q, k, v, np.longdouble(scale), added).backward(out, lse, grad_out)
    return dict(zip(("grad_q", "grad_k", "grad_v"), found, strict=True))


def dropout_mask(p: Any, state: State | None, shape: tuple[int, ...]) -> Array:
    """Return the mask of weights that dropout retains."""
    if p == 0:
        return np.ones(shape, bool)
    assert state is not None
    return chances(state, np.full(shape, 1 - np.longdouble(p)))


def dropped(p: Any, state: State | None, shape: tuple[int, ...]) -> Array:
    """Return the factors by which dropout scales weights."""
    kept = dropout_mask(p, state, shape)
    return np.where(kept, 1 / (1 - np.longdouble(p)) if p < 1 else 0, np.longdouble(0))


@dataclass(frozen=True)
class Flash:
    """Non-tensor arguments of DIOPI's operators."""

    scale: Any
    is_causal: bool
    left: int = -1
    right: int = -1
    slopes: Any = None

    @classmethod
    def of(cls, given: dict[str, Any]) -> Flash:
        return cls(
            np.longdouble(np.float32(given["softmax_scale"])),
            given["is_causal"],
            given["window_size_left"],
            given["window_size_right"],
            given["alibi_slopes"],
        )

    def added(self, queries: int, keys: int, sample: slice = slice(None)) -> Array:
        """Return the bias [N or 1, H or 1, S, T]: -inf for masked keys, else ALiBi's bias.

        Positions are aligned at the end if there are more keys than queries.

        :param sample: index of the sample whose slopes are used.
        """
        apart = np.arange(keys) - (np.arange(queries)[:, None] + max(keys - queries, 0))
        hidden = (apart > 0) if self.is_causal else np.zeros(apart.shape, bool)
        if self.left >= 0:
            hidden |= apart < -self.left
        if self.right >= 0:
            hidden |= apart > self.right
        found = np.where(hidden, -np.inf, np.longdouble(0))[None, None]
        if self.slopes is None:
            return found
        each = self.slopes[sample] if self.slopes.ndim == 2 else self.slopes[None]
        return np.asarray(found - each[:, :, None, None] * np.abs(apart))


def _heads_second(x: Array) -> Array:
    return x.swapaxes(1, 2)


def _heads_third(found: Expected) -> Expected:
    value, size = (np.asarray(x).swapaxes(1, 2) for x in (found.value, found.magnitude))
    return Expected(value, found.length, size)


def _flash(
    tensors: Iterable[Array], options: Flash, p: Any, state: State | None, mask: Any = None
) -> Scores:
    """Return the scores and factors of queries, keys and values [N, H, S, D].

    :param mask: True masks a key.
    """
    q, k, v = tensors
    queries, keys = q.shape[2], k.shape[2]
    added = options.added(queries, keys)
    if mask is not None:
        added = np.where(mask.astype(bool), -np.inf, added)
    factors = dropped(p, state, (*q.shape[:3], keys))
    return Scores.of(q, k, v, options.scale, added, factors)


GRADIENTS = ("grad_q", "grad_k", "grad_v")


@reference("diopiFlashAttention")
def flash_attention(
    *, gen: State | None, q: Array, k: Array, v: Array, p_dropout: float, **given: Any
) -> dict[str, Any]:
    tensors = (_heads_second(x) for x in (q, k, v))
    out, lse = _flash(tensors, Flash.of(given), np.float32(p_dropout), gen).forward()
    return {"attention_out": _heads_third(out), "softmax_lse": lse}


@reference("diopiFlashAttentionBackward")
def flash_attention_backward(
    *,
    grad_output: Array,
    gen: State | None,
    q: Array,
    k: Array,
    v: Array,
    attention_out: Array,
    softmax_lse: Array,
    p_dropout: float,
    **given: Any,
) -> dict[str, Any]:
    out, grad = _heads_second(attention_out), _heads_second(grad_output)
    tensors = (_heads_second(x) for x in (q, k, v))
    scores = _flash(tensors, Flash.of(given), np.float32(p_dropout), gen)
    found = scores.backward(out, softmax_lse, grad)
    return {n: _heads_third(each) for n, each in zip(GRADIENTS, found, strict=True)}


@reference("diopiMultiHeadAttention")
def multi_head_attention(
    *,
    q: Array,
    k: Array,
    v: Array,
    dropout_p: float,
    is_causal: bool,
    scale: float,
    gen: State | None,
    return_debug_mask: bool = False,
) -> dict[str, Any]:
    tensors = (_heads_second(x) for x in (q, k, v))
    scores = _flash(tensors, Flash(np.longdouble(scale), is_causal), dropout_p, gen)
    out, lse = scores.forward()
    kept = dropout_mask(dropout_p, gen, scores.value.shape)
    return {
        "out": _heads_third(out),
        "softmax_lse": lse,
        "debug_attn_mask": Expected(kept, op_class="exact"),
    }


@reference("diopiMultiHeadAttentionBackward")
def multi_head_attention_backward(
    *,
    grad_out: Array,
    q: Array,
    k: Array,
    v: Array,
    out: Array,
    softmax_lse: Array,
    dropout_p: float,
    is_causal: bool,
    gen: State | None,
    scale: float,
) -> dict[str, Any]:
    tensors = (_heads_second(x) for x in (q, k, v))
    scores = _flash(tensors, Flash(np.longdouble(scale), is_causal), dropout_p, gen)
    found = scores.backward(_heads_second(out), softmax_lse, _heads_second(grad_out))
    return {n: _heads_third(each) for n, each in zip(GRADIENTS, found, strict=True)}


def _to_heads(x: Array, layout: str, width: int) -> Array:
    """[N, H, S, D]."""
    if layout == "BNSD":
        return x
    if layout == "SBH":
        x = x.swapaxes(0, 1)
    if layout in ("BSH", "SBH"):
        x = x.reshape(*x.shape[:2], x.shape[2] // width, width)
    return _heads_second(x)


def _from_heads(x: Any, layout: str) -> Array:
    if layout == "BNSD":
        return np.asarray(x)
    rows = _heads_second(np.asarray(x))
    if layout in ("BSH", "SBH"):
        rows = rows.reshape(*rows.shape[:2], rows.shape[2] * rows.shape[3])
    return rows.swapaxes(0, 1) if layout == "SBH" else rows


def _to_layout(found: Expected, layout: str) -> Expected:
    value, size = (_from_heads(x, layout) for x in (found.value, found.magnitude))
    return Expected(value, found.length, size)


def _width(q: Array, layout: str, head_num: int) -> int:
    return int(q.shape[-1] // (head_num if layout in ("BSH", "SBH") else 1))


STORED = ("dropout_mask", "softmax_max", "softmax_sum", "softmax_out")
"""Outputs in a format that the vendor defines."""


@reference("diopiCustomizedFlashAttention")
def customized_flash_attention(
    *,
    gen: State | None,
    q: Array,
    k: Array,
    v: Array,
    attention_mask: Any,
    p_dropout: float,
    head_num: int,
    input_layout: str,
    **given: Any,
) -> dict[str, Any]:
    width = _width(q, input_layout, head_num)
    tensors = (_to_heads(x, input_layout, width) for x in (q, k, v))
    options = Flash.of(given)
    out, _ = _flash(tensors, options, np.float32(p_dropout), gen, attention_mask).forward()
    return {"attention_out": _to_layout(out, input_layout), **dict.fromkeys(STORED, UNSPECIFIED)}


@reference("diopiCustomizedFlashAttentionBackward")
def customized_flash_attention_backward(
    *,
    grad_output: Array,
    q: Array,
    k: Array,
    v: Array,
    attention_out: Array,
    attention_mask: Any,
    dropout_mask: Any,
    softmax_max: Any,
    softmax_sum: Any,
    softmax_out: Any,
    p_dropout: float,
    head_num: int,
    input_layout: str,
    **given: Any,
) -> dict[str, Any]:
    """Return the gradients, with the generator of the vendor's own forward pass."""
    width = _width(q, input_layout, head_num)
    q, k, v, out, grad = (
        _to_heads(x, input_layout, width) for x in (q, k, v, attention_out, grad_output)
    )
    state, options = softmax_out["gen"], Flash.of(given)
    scores = _flash((q, k, v), options, np.float32(p_dropout), state, attention_mask)
    found = scores.backward(out, scores.lse(), grad)
    return {n: _to_layout(each, input_layout) for n, each in zip(GRADIENTS, found, strict=True)}
