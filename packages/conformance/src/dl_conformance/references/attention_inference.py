"""Attention in language-model serving: keys and values in pools, pages and caches.

Sources: Kwon et al., PagedAttention, 2023; Su et al., RoFormer, 2021, for rotary embedding; and
the sources in attention.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dl_conformance.reference import UNSPECIFIED, Array, Expected, reference
from dl_conformance.references.attention import Scores


@reference("diopiDestIndexCopyKV")
def copy_to_places(*, out: Array, k: Array, dest_loc: Array) -> dict[str, Any]:
    result = out.copy()
    result[dest_loc] = k
    return {"out": result}


def _rows(table: Array, starts: Array, lengths: Array, longest: int) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of the pool and the columns of the scores of each sequence."""
    for n, length in enumerate(lengths):
        yield n, table[n, longest - length : longest], slice(starts[n], starts[n] + length)


@reference("diopiTokenAttentionInference")
def token_scores(
    *,
    q: Array,
    k: Array,
    b_loc: Array,
    b_start_loc: Array,
    b_seq_len: Array,
    max_input_len: int,
) -> dict[str, Any]:
    """Yield the rows of packed sequences."""
    heads, width = q.shape[1:]
    value = np.zeros((heads, int(b_seq_len.sum())), q.dtype)
    size = np.zeros_like(value)
    scale = 1 / np.sqrt(np.longdouble(width))
    for n, rows, columns in _rows(b_loc, b_start_loc, b_seq_len, max_input_len):
        value[:, columns] = np.einsum("hd,thd->ht", q[n], k[rows]) * scale
        size[:, columns] = np.einsum("hd,thd->ht", np.abs(q[n]), np.abs(k[rows])) * scale
    return {"token_attention_out": Expected(value, width + 2, size)}


@reference("diopiTokenSoftmaxReduceVInference")
def weighted_values(
    *,
    logics: Array,
    v: Array,
    b_loc: Array,
    b_start_loc: Array,
    b_seq_len: Array,
    max_input_len: int,
    other_kv_index: int,
) -> dict[str, Any]:
    value = np.zeros((len(b_seq_len), *v.shape[1:]), v.dtype)
    size = np.zeros_like(value)
    for n, rows, columns in _rows(b_loc, b_start_loc, b_seq_len, max_input_len):
        scores = logics[:, columns]
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        weights = powers / powers.sum(axis=1, keepdims=True)
        value[n] = np.einsum("ht,thd->hd", weights, v[rows])
        spread = 2 + 2 * np.abs(scores).max(axis=1)[:, None]
        size[n] = np.einsum("ht,thd->hd", weights, np.abs(v[rows])) * spread
    return {"out": Expected(value, 2 * max_input_len + 2, size)}


@reference("diopiContextAttentionInference")
def prompts(
    *,
    q: Array,
    k: Array,
    v: Array,
    b_start_loc: Array,
    b_seq_len: Array,
    max_input_len: int,
) -> dict[str, Any]:
    value, size = np.zeros_like(q), np.zeros_like(q)
    scale = 1 / np.sqrt(np.longdouble(q.shape[2]))
    for start, length in zip(b_start_loc, b_seq_len, strict=True):
        part = slice(start, start + length)
        hidden = np.triu(np.ones((length, length), bool), 1)
        added = np.where(hidden, -np.inf, np.longdouble(0))
        queries, keys, values = (x[part].swapaxes(0, 1)[None] for x in (q, k, v))
        found, _ = Scores.of(queries, keys, values, scale, added).forward()
        value[part] = np.asarray(found.value)[0].swapaxes(0, 1)
        size[part] = np.asarray(found.magnitude)[0].swapaxes(0, 1)
    length = 2 * max(max_input_len, q.shape[2]) + 4
    return {"context_attention_out": Expected(value, length, size)}


def _rows_of_heads(x: Array, heads: int) -> Array:
    """Reshape rows [S, H · D] to [1, H, S, D]."""
    return x.reshape(x.shape[0], heads, x.shape[1] // heads).swapaxes(0, 1)[None]


def _hidden(mask: Any) -> Array:
    return np.where(np.asarray(mask).astype(bool), -np.inf, np.longdouble(0))


@reference("diopiPagedAttention")
def paged(
    *,
    q: Array,
    k: Array,
    v: Array,
    attenMask: Any,  # noqa: N803 - the contract's name
    actual_seq_lengths: tuple[int, ...],
    num_heads: int,
    num_kv_heads: int,
    dim: int,
    block_table: Array,
    block_size: int,
) -> dict[str, Any]:
    value, size = np.zeros_like(q), np.zeros_like(q)
    row = num_kv_heads * dim
    rows = [x.reshape(x.size // row, row) for x in (k, v)]
    scale = 1 / np.sqrt(np.longdouble(dim))
    for n, length in enumerate(actual_seq_lengths):
        tokens = np.arange(length)
        places = block_table[n, tokens // block_size] * block_size + tokens % block_size
        keys, values = (_rows_of_heads(x[places], num_kv_heads) for x in rows)
        mask = np.zeros((1, length)) if attenMask is None else attenMask[:, :length]
        added = _hidden(np.broadcast_to(mask, (len(q), length))[n])
        query = _rows_of_heads(q[n : n + 1], num_heads)
        found, _ = Scores.of(query, keys, values, scale, added).forward()
        value[n], size[n] = np.ravel(found.value), np.ravel(np.asarray(found.magnitude))
    return {"out": Expected(value, 2 * max((*actual_seq_lengths, dim)) + 4, size)}


@reference("diopiPromptFlashAttention")
def prompt_flash(
    *,
    query: Array,
    key: Array,
    value: Array,
    atten_mask: Any,
    actual_seq_lengths: tuple[int, ...],
    max_input_len: int,
    num_heads: int,
    num_kv_heads: int,
    dim: int,
) -> dict[str, Any]:
    out, size = np.zeros_like(query), np.zeros_like(query)
    batch, longest = len(actual_seq_lengths), max_input_len
    mask = np.zeros((1, 1)) if atten_mask is None else atten_mask
    if mask.ndim == 3:  # a matrix for each sequence, as CANN's aclnnPromptFlashAttention reads it
        mask = mask[:, None]
    hidden = _hidden(np.broadcast_to(mask, (batch, num_heads, longest, longest)))
    is_padded = sum(actual_seq_lengths) != len(query)
    scale, start = 1 / np.sqrt(np.longdouble(dim)), 0
    for n, length in enumerate(actual_seq_lengths):
        part = slice(start, start + length)
        q = _rows_of_heads(query[part], num_heads)
        k, v = (_rows_of_heads(x[part], num_kv_heads) for x in (key, value))
        found, _ = Scores.of(q, k, v, scale, hidden[n : n + 1, :, :length, :length]).forward()
        for to, of_heads in ((out, found.value), (size, found.magnitude)):
            to[part] = np.asarray(of_heads)[0].swapaxes(0, 1).reshape(to[part].shape)
        start += longest if is_padded else length
    return {"out": Expected(out, 2 * max(longest, dim) + 4, size)}


class Layer:
    """Projected rows of a fused layer and the magnitudes of their terms, [rows, heads, D] each."""

    def __init__(self, x: Array, weight: Array, bias: Any, heads: int, key_heads: int) -> None:
        shift = 0 if bias is None else np.ravel(bias)
        value = x @ weight + shift
        size = np.abs(x) @ np.abs(weight) + np.abs(shift)
        shape = (len(x), heads + 2 * key_heads, x.shape[1] // heads)
        ends = (heads, heads + key_heads)
        self.q, self.k, self.v = np.split(value.reshape(shape), ends, axis=1)
        self.q_size, self.k_size, self.v_size = np.split(size.reshape(shape), ends, axis=1)
        # The terms of a projection, and the two terms of a rotation.
        self.length = x.shape[1] + 3

    def rotate(self, positions: Array, rotated: int, theta: float) -> None:
        if not rotated:
            return
        base = np.longdouble(np.float32(theta))
        angle = positions[:, None] * base ** (-np.arange(0, rotated, 2) / np.longdouble(rotated))
        cos, sin = (f(angle)[:, None] for f in (np.cos, np.sin))
        # The error of an angle is relative to its magnitude.
        of_cos, of_sin = (
            np.abs(a) + np.abs(angle)[:, None] * np.abs(b) for a, b in ((cos, sin), (sin, cos))
        )
        even, odd = slice(0, rotated, 2), slice(1, rotated, 2)
        for x, size in ((self.q, self.q_size), (self.k, self.k_size)):
            a, b = x[..., even].copy(), x[..., odd].copy()
            x[..., even], x[..., odd] = a * cos - b * sin, a * sin + b * cos
            a, b = size[..., even].copy(), size[..., odd].copy()
            size[..., even], size[..., odd] = a * of_cos + b * of_sin, a * of_sin + b * of_cos

    def attend(self, rows: slice, keys: tuple[Array, ...], added: Any) -> tuple[Array, Array]:
        """Return the attention of rows and magnitudes, for keys and values [heads, T, D] and the
        magnitudes of both."""
        q, q_size = (x[rows].swapaxes(0, 1)[None] for x in (self.q, self.q_size))
        group = q.shape[1] // keys[0].shape[0]
        k, v, k_size, v_size = (x.repeat(group, axis=0)[None] for x in keys)
        scale = 1 / np.sqrt(np.longdouble(q.shape[3]))
        value = q @ k.swapaxes(-1, -2) * scale + added
        size = q_size @ k_size.swapaxes(-1, -2) * scale
        scores = Scores(q, k, v, group, value, size, scale)
        weights = scores.weights(scores.lse())
        out, size = weights @ v, weights @ v_size * scores.spread
        found = (
            x[0].swapaxes(0, 1).reshape(q.shape[2], q.shape[1] * q.shape[3]) for x in (out, size)
        )
        return next(found), next(found)


def _fused(
    layer: Layer, longest: int, out: tuple[Array, Array], caches: list[tuple[Array, Array]]
) -> dict[str, Any]:
    """Return the output of a fused layer; queries and keys are rounded twice, values once."""
    length = 2 * layer.length + layer.q.shape[2] + longest
    keys, values = (Expected(x, layer.length, size, roundings=1) for x, size in caches)
    return {
        "inoutput": Expected(out[0], length, out[1], roundings=5),
        "key_cache": keys,
        "value_cache": values,
        "workspace_size": UNSPECIFIED,
    }


@reference("diopiFusedContextAttentionInp")
def fused_context(
    *,
    inoutput: Array,
    qkv_weight: Array,
    qkv_bias: Any,
    key_cache: Array,
    value_cache: Array,
    layer_id: int,
    local_head_num: int,
    local_kv_head_num: int,
    max_q_len: int,
    max_kv_len: int,
    rotary_embedding: int,
    rope_theta: float,
    **given: Any,
) -> dict[str, Any]:
    """Return the outputs of a call with `is_prepared`."""
    layer = Layer(inoutput, qkv_weight, qkv_bias, local_head_num, local_kv_head_num)
    history, batch = max_kv_len - max_q_len, key_cache.shape[1]
    layer.rotate(np.tile(history + np.arange(max_q_len), batch), rotary_embedding, rope_theta)
    caches = [(x.copy(), np.abs(x)) for x in (key_cache, value_cache)]
    out, size = np.zeros_like(inoutput), np.zeros_like(inoutput)
    seen = np.tril(np.ones((max_q_len, max_kv_len), bool), history)
    for n in range(batch):
        rows = slice(n * max_q_len, (n + 1) * max_q_len)
        fresh = ((layer.k, layer.k_size), (layer.v, layer.v_size))
        for cache, new in zip(caches, fresh, strict=True):
            for to, x in zip(cache, new, strict=True):
                to[layer_id, n, :, history:max_kv_len] = x[rows].swapaxes(0, 1)
        keys = tuple(x[layer_id, n, :, :max_kv_len] for x in _kvs(caches))
        out[rows], size[rows] = layer.attend(rows, keys, np.where(seen, 0, -np.inf))
    found = _fused(layer, max_kv_len, (out, size), caches)
    return {**found, "pre_work_size": UNSPECIFIED}


def _kvs(caches: list[tuple[Array, Array]]) -> tuple[Array, ...]:
    """Return keys, values, and the magnitudes of both."""
    return (caches[0][0], caches[1][0], caches[0][1], caches[1][1])


@reference("diopiFusedDecoderAttentionInp")
def fused_decoder(
    *,
    inoutput: Array,
    qkv_weight: Array,
    qkv_bias: Any,
    key_cache: Array,
    value_cache: Array,
    finished: Array,
    total_padding_tokens: Array,
    sequence_lengths: Array,
    step: int,
    layer_id: int,
    local_head_num: int,
    local_kv_head_num: int,
    max_seq_len: int,
    rotary_embedding: int,
    rope_theta: float,
    **given: Any,
) -> dict[str, Any]:
    layer = Layer(inoutput, qkv_weight, qkv_bias, local_head_num, local_kv_head_num)
    layer.rotate(step - 1 - total_padding_tokens, rotary_embedding, rope_theta)
    caches = [(x.copy(), np.abs(x)) for x in (key_cache, value_cache)]
    out, size = inoutput.copy(), np.abs(inoutput)
    for n in np.flatnonzero(~finished):
        length, rows = int(sequence_lengths[n]), slice(n, n + 1)
        fresh = ((layer.k, layer.k_size), (layer.v, layer.v_size))
        for cache, new in zip(caches, fresh, strict=True):
            for to, x in zip(cache, new, strict=True):
                to[layer_id, n, :, length % max_seq_len] = x[n]
        kept = np.arange(max(0, length + 1 - max_seq_len), length + 1) % max_seq_len
        keys = tuple(x[layer_id, n][:, kept] for x in _kvs(caches))
        out[rows], size[rows] = layer.attend(rows, keys, 0)
    return _fused(layer, max_seq_len, (out, size), caches)
