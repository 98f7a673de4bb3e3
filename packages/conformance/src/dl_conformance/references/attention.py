"""Attention, with its weights in full, and its gradients.

Sources: Vaswani et al., Attention is all you need, 2017; Dao, FlashAttention-2, 2023, for the
gradients from the logarithm of the sum of exponentials; Press et al., Train short, test long, 2022,
for biases that fall with the distance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dl_conformance.reference import Array, Expected, reference


@dataclass(frozen=True)
class Scores:
    """Scores of queries [N, H, S, D] and keys [N, Hk, T, D], with what they are made of."""

    q: Array
    k: Array
    v: Array
    group: int
    value: Array
    size: Array
    scale: Any

    @classmethod
    def of(cls, q: Array, k: Array, v: Array, scale: Any, added: Any = 0) -> Scores:
        """
        :param added: to the scores; -inf where a query does not see a key.
        """
        group = q.shape[1] // k.shape[1]
        k, v = k.repeat(group, axis=1), v.repeat(group, axis=1)
        value = q @ k.swapaxes(-1, -2) * scale + added
        finite = np.where(np.isfinite(added), np.abs(added), 0)
        size = np.abs(q) @ np.abs(k).swapaxes(-1, -2) * np.abs(scale) + finite
        return cls(q, k, v, group, value, size, scale)

    @property
    def length(self) -> int:
        return int(max(self.k.shape[2], self.q.shape[3], self.q.shape[2] * self.group)) + 4

    @property
    def spread(self) -> Array:
        """A rounding of a score, or of the largest one, is one of the weight, relative to it."""
        seen = np.where(np.isfinite(self.value), self.size, 0)
        return np.asarray(2 + 2 * seen.max(axis=-1, keepdims=True, initial=0))

    def lse(self) -> Array:
        """The logarithm of the sum of exponentials, [N, H, S]."""
        top = self.value.max(axis=-1, keepdims=True, initial=-np.inf)
        base = np.where(np.isfinite(top), top, 0)
        total = np.exp(self.value - base).sum(axis=-1, keepdims=True)
        return np.asarray((base + np.log(total))[..., 0])

    def weights(self, lse: Array) -> Array:
        """Zeros for a query that sees no key."""
        found = np.exp(self.value - np.where(np.isfinite(lse), lse, 0)[..., None])
        return np.asarray(np.where(np.isfinite(lse)[..., None], found, 0))

    def forward(self) -> tuple[Expected, Expected]:
        """The output [N, H, S, Dv] and the logarithms."""
        lse = self.lse()
        weights = self.weights(lse)
        size = weights @ np.abs(self.v) * self.spread
        sizes = np.where(np.isfinite(lse), np.abs(lse), 0) + self.spread[..., 0]
        logs = Expected(lse, self.length, sizes, op_class="reduction")
        return Expected(weights @ self.v, self.length, size), logs

    def backward(self, out: Array, lse: Array, grad: Array) -> tuple[Expected, ...]:
        """Gradients of queries, keys and values from the results as they are stored."""

        def folded(each: Array) -> Array:
            heads = each.reshape(each.shape[0], -1, self.group, *each.shape[2:])
            return np.asarray(heads.sum(axis=2))

        p = self.weights(lse)
        # What is stored of the logarithm is rounded too.
        spread = self.spread + np.where(np.isfinite(lse), np.abs(lse), 0)[..., None]
        slope = p * (grad @ self.v.swapaxes(-1, -2) - (out * grad).sum(axis=-1, keepdims=True))
        terms = np.abs(grad) @ np.abs(self.v).swapaxes(-1, -2)
        terms = terms + (np.abs(out) * np.abs(grad)).sum(axis=-1, keepdims=True)
        size, sizes = p * terms * spread, p * spread
        scale, back = np.abs(self.scale), (-1, -2)
        pairs = (
            (slope @ self.k * self.scale, size @ np.abs(self.k) * scale),
            (
                folded(slope.swapaxes(*back) @ self.q) * self.scale,
                folded(size.swapaxes(*back) @ np.abs(self.q)) * scale,
            ),
            (folded(p.swapaxes(*back) @ grad), folded(sizes.swapaxes(*back) @ np.abs(grad))),
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


def _window(queries: int, keys: int, causal: bool, left: int, right: int) -> Array:
    """-inf where a key is out of sight; positions are counted from the end."""
    apart = np.arange(keys) - (np.arange(queries)[:, None] + keys - queries)
    hidden = (apart > 0) if causal else np.zeros(apart.shape, bool)
    if left >= 0:
        hidden |= apart < -left
    if right >= 0:
        hidden |= apart > right
    return np.where(hidden, -np.inf, np.longdouble(0))


def _biases(slopes: Any, queries: int, keys: int) -> Any:
    if slopes is None:
        return 0
    apart = np.abs(np.arange(keys) - (np.arange(queries)[:, None] + keys - queries))
    each = slopes if slopes.ndim == 2 else slopes[None]
    return -each[:, :, None, None] * apart


def _heads_second(x: Array) -> Array:
    return x.swapaxes(1, 2)


def _flash(q: Array, k: Array, v: Array, given: dict[str, Any]) -> Scores:
    queries, keys = q.shape[1], k.shape[1]
    window = (given["is_causal"], given["window_size_left"], given["window_size_right"])
    added = _window(queries, keys, *window) + _biases(given["alibi_slopes"], queries, keys)
    scale = np.longdouble(np.float32(given["softmax_scale"]))
    return Scores.of(_heads_second(q), _heads_second(k), _heads_second(v), scale, added)


def _heads_third(found: Expected) -> Expected:
    value, size = (np.asarray(x).swapaxes(1, 2) for x in (found.value, found.magnitude))
    return Expected(value, found.length, size)


@reference("diopiFlashAttention")
def flash_attention(*, gen: Any, q: Array, k: Array, v: Array, **given: Any) -> dict[str, Any]:
    """Without dropout."""
    out, lse = _flash(q, k, v, given).forward()
    return {"attention_out": _heads_third(out), "softmax_lse": lse}


@reference("diopiFlashAttentionBackward")
def flash_attention_backward(
    *,
    grad_output: Array,
    gen: Any,
    q: Array,
    k: Array,
    v: Array,
    attention_out: Array,
    softmax_lse: Array,
    **given: Any,
) -> dict[str, Any]:
    out, grad = _heads_second(attention_out), _heads_second(grad_output)
    found = _flash(q, k, v, given).backward(out, softmax_lse, grad)
    names = ("grad_q", "grad_k", "grad_v")
    return {name: _heads_third(each) for name, each in zip(names, found, strict=True)}
