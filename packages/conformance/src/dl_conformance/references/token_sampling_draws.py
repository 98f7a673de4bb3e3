"""Sampling of tokens: top-k (Fan, Lewis, Dauphin, Hierarchical neural story generation, 2018) and
top-p (Holtzman et al., The curious case of neural text degeneration, 2020).

docs/random.md of dl-diopi-proto specifies the draws.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from dl_conformance.philox import State, units
from dl_conformance.reference import UNSPECIFIED, Array, Expected, reference
from dl_conformance.references.token_sampling import MOST

SMALLEST = np.longdouble(1e-6)
"""Constant added to the sum of all weights in a token's probability."""


def _draw_token(logits: Array, k: int, p: float, state: State) -> tuple[int, Array, Array]:
    """Return a token, and the weights of all tokens and of the candidates."""
    weights = np.exp(logits - logits.max())
    order = np.argsort(-logits, kind="stable")[:k]
    running = np.cumsum(weights[order].astype(np.float64))
    target = units(state, 1, "float64")[0].astype(np.float64) * p * running[-1]
    at = min(int(np.searchsorted(running, target, side="right")), k - 1)
    return int(order[at]), weights, weights[order]


def _sample(
    *,
    output_ids: Array,
    logits: Array,
    end_ids: Array,
    finished: Array | None,
    sequence_lengths: Array | None,
    step: int,
    top_k: Iterable[int],
    runtime_top_p: Array,
    skip_decode: Array | None,
    cum_log_probs: Array | None,
    output_log_probs: Array | None,
    generators: list[State],
    among_all: bool,
) -> dict[str, Any]:
    batch, vocabulary = logits.shape
    ids = output_ids.copy()
    names = ("finished", "sequence_lengths", "cum_log_probs", "output_log_probs")
    before = (finished, sequence_lengths, cum_log_probs, output_log_probs)
    done, lengths, cumulative, single = (None if x is None else x.copy() for x in before)
    sizes = np.zeros((2, batch), np.longdouble)
    for n, k in enumerate(top_k):
        if skip_decode is not None and skip_decode[n]:
            continue
        over = finished is not None and bool(finished[n])
        if over:
            ids[step, n] = end_ids[n]
            if single is not None:
                single[n] = 0
        else:
            count = min(max(int(k), 1), vocabulary)
            p = float(np.clip(runtime_top_p[n], 0, 1))
            token, weights, kept = _draw_token(logits[n], count, p, generators[n])
            ids[step, n] = token
            behind = logits[n, token] - logits[n].max()
            sums = weights.sum() + SMALLEST, kept.sum()
            for row, (to, sum_) in enumerate(
                ((cumulative, sums[0]), (single, sums[0] if among_all else sums[1]))
            ):
                if to is None:
                    continue
                to[n] = behind - np.log(sum_) + (to[n] if row == 0 else 0)
                # A relative error of the sum is an absolute error of its logarithm.
                added = np.abs(cum_log_probs[n]) if row == 0 and cum_log_probs is not None else 0
                sizes[row, n] = np.abs(behind) + np.log(sum_) + 1 + added
        if done is not None and lengths is not None:
            lengths[n] += not over
            done[n] = ids[step, n] == end_ids[n]
    found: dict[str, Any] = dict(zip(names, (done, lengths, cumulative, single), strict=True))
    for row, name in enumerate(names[2:]):
        if found[name] is not None:
            found[name] = Expected(found[name], vocabulary + 3, sizes[row], op_class="reduction")
    return {"output_ids": ids, "logits": UNSPECIFIED, "workspace_size": UNSPECIFIED, **found}


@reference("diopiTopKSampling")
def top_k_sampling(
    *,
    workspace: None,
    workspace_size: int,
    fusion_level: int,
    vocab_size_padded: int,
    runtime_top_k: Array,
    **given: Any,
) -> dict[str, Any]:
    return _sample(top_k=np.minimum(runtime_top_k, MOST), among_all=False, **given)


@reference("diopiTopPSampling")
def top_p_sampling(
    *,
    persistent_workspace: None,
    persistent_workspace_size: int,
    workspace: None,
    workspace_size: int,
    fusion_level: int,
    vocab_size_padded: int,
    **given: Any,
) -> dict[str, Any]:
    every = [vocab_size_padded] * len(given["logits"])
    found = _sample(top_k=every, among_all=True, **given)
    return {
        **found,
        "runtime_top_p": given["runtime_top_p"],
        "persistent_workspace_size": UNSPECIFIED,
    }
