"""Logits processing before sampling a token, and stop criteria.

Presence and frequency penalties follow the documentation of OpenAI's API, the repetition penalty
follows Keskar et al., CTRL (2019), and stop criteria follow the guide of FasterTransformer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dl_conformance.reference import Array, Expected, reference

MOST = 1024
"""Maximum number of candidates of top-k sampling."""


def _penalized(logits: Array, value: Array, size: Array, terms: int) -> dict[str, Any]:
    """Return logits: sums of terms where ``value`` is a number, unchanged logits where it is
    NaN."""
    value = np.where(np.isnan(size), logits, value)
    size = np.where(np.isnan(size), 0, size)
    length = np.where(size > 0, terms, 1)
    return {"logits": Expected(value, length, size, op_class="reduction")}


@reference("diopiApplyPenalty")
def penalize(
    *,
    logits: Array,
    presence_penalty: Array,
    frequency_penalty: Array,
    p_token_ids: Array,
    p_token_counts: Array,
    p_cumsum_seq_len: Array,
    p_max_len_in_batch: int,
) -> dict[str, Any]:
    value, size = logits.copy(), np.full_like(logits, np.nan)
    for n, (once, every) in enumerate(zip(presence_penalty, frequency_penalty, strict=True)):
        part = slice(p_cumsum_seq_len[n], p_cumsum_seq_len[n + 1])
        at, counts = p_token_ids[part], p_token_counts[part]
        value[n, at] -= once + counts * every
        size[n, at] = np.abs(logits[n, at]) + np.abs(once) + np.abs(counts * every)
    return _penalized(logits, value, size, 3)


def _repetition(logits: Array, penalty: Array) -> Array:
    return np.asarray(np.where(logits > 0, logits / penalty, logits * penalty))


@reference("diopiApplyPenaltyV2")
def penalize_places(
    *,
    logits: Array,
    presence_penalty: Array,
    frequency_penalty: Array,
    repetition_penalty: Array,
    p_token_ids: Array,
    p_token_counts: Array,
) -> dict[str, Any]:
    value, size = logits.copy(), np.full_like(logits, np.nan)
    scaled = _repetition(logits.reshape(-1)[p_token_ids], repetition_penalty)
    often = p_token_counts * frequency_penalty
    value.reshape(-1)[p_token_ids] = scaled - presence_penalty - often
    size.reshape(-1)[p_token_ids] = np.abs(scaled) + np.abs(presence_penalty) + np.abs(often)
    return _penalized(logits, value, size, 3)


def _limits(
    top_ks: Array, top_ps: Array, top_k: int, top_ks_size: int, top_p: float, top_ps_size: int
) -> tuple[Array, Array]:
    """Return k and p of each sequence; k is 1 where both are 0."""
    k = top_ks if top_ks_size > 0 else np.full_like(top_ks, top_k)
    p = top_ps if top_ps_size > 0 else np.full_like(top_ps, np.float32(top_p))
    return np.where((k == 0) & (p == 0), 1, k), p


@reference("diopiSetupTopkRuntimeArgsInp")
def top_k_limits(*, batch_size: int, **given: Any) -> dict[str, Any]:
    k, p = _limits(**given)
    p = np.where((k > 0) & (p == 0), 1, p)
    return {
        "top_ks": np.minimum(k, MOST),
        "top_ps": np.minimum(np.maximum(p, 0), 1),
        "skip_decode": k == 0,
    }


@reference("diopiSetupToppRuntimeArgsInp")
def top_p_limits(
    *, batch_size: int, top_p_decay: float, top_p_min: float, top_p_reset_ids: int, **given: Any
) -> dict[str, Any]:
    k, p = _limits(**given)
    limited = np.minimum(np.maximum(p, 0), 1)
    decay = top_p_decay if 0 < top_p_decay <= 1 else 1
    least = top_p_min if 0 < top_p_min <= 1 else 0.5
    return {
        "top_ks": k,
        "top_ps": limited,
        "skip_decode": k > 0,
        "initial_top_p_buf": limited,
        "top_p_decay_buf": np.full(p.shape, np.longdouble(decay)),
        "top_p_min_buf": np.full(p.shape, np.longdouble(least)),
        "top_p_reset_ids_buf": np.full(p.shape, top_p_reset_ids),
    }


def _words(lists: Array, sequence: int) -> list[list[int]]:
    """Return the words of a sequence."""
    tokens, ends = lists[sequence] if lists.ndim == 3 else lists
    words = []
    for at, end in enumerate(ends):
        start = ends[at - 1] if at else 0
        if 0 <= start < end:
            words.append([int(x) for x in tokens[start:end]])
    return words


def _ends_with(history: Array, word: list[int]) -> bool:
    return len(word) <= len(history) and list(history[len(history) - len(word) :]) == word


@reference("diopiBanBadWordsInp")
def ban_words(
    *,
    logits: Array,
    output_ids: Array,
    bad_words: Array,
    id_offset: int,
    bad_words_len: int,
    share_words: bool,
    batch_size: int,
    vocab_size: int,
    step: int,
) -> dict[str, Any]:
    out = logits.copy()
    for n in range(batch_size):
        history = output_ids[:step, id_offset + n]
        for word in _words(bad_words, n):
            if 0 < word[-1] < vocab_size and _ends_with(history, word[:-1]):
                out[n, word[-1]] = -np.inf
    return {"logits": out}


@reference("diopiStopWordsCriterion")
def stop_at_words(
    *,
    output_ids: Array,
    stop_words: Array,
    finished: Array,
    id_offset: int,
    stop_words_len: int,
    batch_size: int,
    step: int,
) -> dict[str, Any]:
    found = [
        any(_ends_with(output_ids[: step + 1, id_offset + n], w) for w in _words(stop_words, n))
        for n in range(batch_size)
    ]
    return {"finished": finished | np.array(found, bool)}


@reference("diopiLengthCriterion")
def stop_at_length(
    *, finished: Array, sequence_limit_length: Array, batch_size: int, step: int
) -> dict[str, Any]:
    over = finished | (sequence_limit_length <= step)
    count = np.count_nonzero(over)
    return {
        "finished": over,
        "finished_sum": np.array([count]),
        "should_stop": np.array([count == batch_size]),
    }


@reference("diopiBatchApplyRepetitionPenaltyInp")
def penalize_repetition(
    *,
    logits: Array,
    penalties: Array,
    output_ids: Array,
    batch_size: int,
    vocab_size: int,
    input_lengths: Array,
    max_input_length: int,
    step: int,
    penalty_type: int,
) -> dict[str, Any]:
    value, size = logits.copy(), np.full_like(logits, np.nan)
    for n in range(batch_size if penalty_type else 0):
        steps = np.arange(step)
        counts = (steps < input_lengths[n]) | (steps >= max_input_length)
        seen = np.unique(output_ids[:step, n][counts])
        before = logits[n, seen]
        subtracted = penalty_type == 1
        value[n, seen] = before - penalties[n] if subtracted else _repetition(before, penalties[n])
        size[n, seen] = np.abs(before) + np.abs(penalties[n]) if subtracted else 0
    return _penalized(logits, value, size, 2)


@reference("diopiBatchApplyTemperaturePenaltyInp")
def apply_temperature(
    *,
    logits: Array,
    bias: Array | None,
    temperatures: Array,
    batch_size: int,
    vocab_size: int,
    vocab_size_padd: int,
    dtypes: Mapping[str, str],
) -> dict[str, Any]:
    added = np.zeros(vocab_size_padd, logits.dtype) if bias is None else bias
    divisor = temperatures[:, None] + np.longdouble(1e-6)
    value, size = (logits + added) / divisor, (np.abs(logits) + np.abs(added)) / divisor
    padding = np.arange(vocab_size_padd) >= vocab_size
    value[:, padding] = lowest(dtypes["logits"])
    size[:, padding] = 0
    return {"logits": Expected(value, np.where(size > 0, 2, 1), size, op_class="reduction")}


def lowest(dtype: str) -> np.longdouble:
    """Return the lowest finite number."""
    if dtype == "bfloat16":
        return np.longdouble(-(2.0**127) * (2 - 2.0**-7))
    return np.longdouble(np.finfo(dtype).min)
