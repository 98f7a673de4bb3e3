"""Attention while serving a language model: a pool of keys and values of all sequences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dl_conformance.reference import Array, Expected, reference
from dl_conformance.references.attention import Scores


@reference("diopiDestIndexCopyKV")
def copy_to_places(*, out: Array, k: Array, dest_loc: Array) -> dict[str, Any]:
    result = out.copy()
    result[dest_loc] = k
    return {"out": result}


def _rows(table: Array, starts: Array, lengths: Array, longest: int) -> Iterator[tuple[Any, ...]]:
    """Of each sequence, the rows of the pool and the columns of the scores."""
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
    """Of sequences that lie one behind the other, without gaps."""
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
