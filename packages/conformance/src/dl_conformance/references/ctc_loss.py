"""Connectionist temporal classification.

Source: A. Graves, S. Fernández, F. Gomez and J. Schmidhuber, Connectionist temporal classification:
labelling unsegmented sequence data with recurrent neural networks, ICML 2006, in log space. As in
PyTorch's ``_ctc_loss``, log_alpha is saved, and the gradient assumes that log_probs are results of
log_softmax.

The error of a logsumexp ``top + log(sum of exp(x - top))`` of up to three terms consists of the
errors of its terms, each weighted by its share, and of its own roundings: the differences, exp (4
ulp), two additions, log (at most 4 ulp of log 3) and the last addition. A step therefore adds to
the magnitude the absolute values of the differences, the sum and the state, and 2: times gamma(10)
for three terms, this bounds the remaining errors.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dl_conformance.reference import Array, Expected, reference

NONE = -np.inf
TERMS = 3


def log_sum(terms: list[Array], errors: list[Array]) -> tuple[Array, Array]:
    """Return the logsumexp of the terms, and its error."""
    stacked, before = np.stack(terms), np.stack(errors)
    top = stacked.max(axis=0)
    apart = np.where(np.isfinite(stacked), stacked - top, NONE)
    sizes = np.exp(apart)
    found = np.where(top == NONE, NONE, top + np.log(sizes.sum(axis=0)))
    shares = sizes / np.where(top == NONE, 1, sizes.sum(axis=0))
    moved = (shares * (before + np.where(sizes > 0, np.abs(apart), 0))).sum(axis=0)
    return found, np.where(top == NONE, 0, moved + np.abs(found) + 2)


def _later(values: Array, by: int, filler: float) -> Array:
    """Shift values by ``by`` positions."""
    return np.concatenate([np.full(by, filler, values.dtype), values])[: len(values)]


def forward(log_probs: Array, states: Array) -> tuple[Array, Array]:
    """Return ``log_alpha`` of one sample, [T, states], from [T, C], and its errors."""
    steps, count = len(log_probs), len(states)
    alpha = np.full((steps, count), NONE, log_probs.dtype)
    errors = np.zeros_like(alpha)
    skips = np.zeros(count, bool)
    skips[2:] = (np.arange(2, count) % 2 == 1) & (states[2:] != states[:-2])
    for t in range(steps):
        if t == 0:
            alpha[0, :2] = log_probs[0, states[:2]]
            continue
        last, error = alpha[t - 1], errors[t - 1]
        far = np.where(skips, _later(last, 2, NONE), NONE)
        terms = [last, _later(last, 1, NONE), far]
        before, moved = log_sum(terms, [error, _later(error, 1, 0), _later(error, 2, 0)])
        alpha[t] = before + log_probs[t, states]
        errors[t] = np.where(alpha[t] == NONE, 0, moved + np.abs(alpha[t]))
    return alpha, errors


def _samples(
    targets: Array, target_lengths: Array, input_lengths: Array, blank: int
) -> Iterator[tuple[int, int, Array]]:
    """Yield the number of steps, the number of labels and the labels of states of each sample."""
    start = 0
    for n, (steps, length) in enumerate(zip(input_lengths, target_lengths, strict=True)):
        labels = targets[n, :length] if targets.ndim == 2 else targets[start : start + length]
        start += int(length)
        states = np.full(2 * int(length) + 1, blank, np.int64)
        states[1::2] = labels
        yield int(steps), int(length), states


@reference("diopiCTCLoss")
def ctc_loss(
    *,
    log_probs: Array,
    targets: Array,
    input_lengths: Array,
    target_lengths: Array,
    blank: int,
    reduction: str,
    zero_infinity: bool,
    log_alpha: tuple[int, ...] | None = None,
) -> dict[str, Any]:
    steps, samples, _ = log_probs.shape
    longest = int(target_lengths.max(initial=0))
    shape = (samples, steps, 2 * longest + 1) if log_alpha is None else tuple(log_alpha)
    kept = np.full(shape, NONE, log_probs.dtype)
    of_kept = np.zeros_like(kept)
    losses, of_losses = np.zeros((2, samples), log_probs.dtype)
    for n, (count, length, states) in enumerate(
        _samples(targets, target_lengths, input_lengths, blank)
    ):
        alpha, errors = forward(log_probs[:count, n], states)
        kept[n, :count, : len(states)], of_kept[n, :count, : len(states)] = alpha, errors
        if count == 0:
            losses[n] = np.inf if length else 0
            continue
        ends, of_ends = list(alpha[-1, -2:]), list(errors[-1, -2:])
        found, of_losses[n] = log_sum(ends, of_ends)
        losses[n] = -found
    finite = np.where(zero_infinity & (losses == np.inf), 0, losses)
    of_finite = np.where(np.isfinite(losses), of_losses, 0)
    terms = TERMS
    if reduction != "none":
        divisor = np.maximum(target_lengths, 1) * samples if reduction == "mean" else 1
        terms += max(samples, 1)
        empty = np.longdouble(np.nan if reduction == "mean" and samples == 0 else 0)
        finite = np.asarray((finite / divisor).sum() + empty)
        of_finite = np.asarray((of_finite / divisor).sum())
    return {
        "out": Expected(finite, terms, of_finite),
        "neg_log_likelihood": Expected(losses, TERMS, of_losses),
        "log_alpha": Expected(kept, TERMS, of_kept),
    }


@reference("diopiCTCLossBackward")
def ctc_loss_backward(
    *,
    grad_output: Array,
    log_probs: Array,
    targets: Array,
    input_lengths: Array,
    target_lengths: Array,
    neg_log_likelihood: Array,
    log_alpha: Array,
    blank: int,
    reduction: str,
    zero_infinity: bool,
) -> dict[str, Any]:
    """Return ``exp(log_probs)`` minus the share of the paths that have the class at that step.

    The errors of the sums of paths, and the roundings of the sum of both logarithms, of the loss
    and of the probability, are relative errors of the share.
    """
    value = np.zeros_like(log_probs)
    magnitude = np.zeros_like(log_probs)
    length = np.full(log_probs.shape, TERMS)
    for n, (count, labels, states) in enumerate(
        _samples(targets, target_lengths, input_lengths, blank)
    ):
        loss = neg_log_likelihood[n]
        if zero_infinity and loss == np.inf:
            continue
        scale = grad_output.reshape(-1)[n if reduction == "none" else 0]
        if reduction == "mean":
            scale = scale / (max(labels, 1) * log_probs.shape[1])
        here = log_probs[:count, n]
        # The paths after a state are those that reach it in reversed time.
        back, of_back = (x[::-1, ::-1] for x in forward(here[::-1], states[::-1]))
        both = log_alpha[n, :count, : len(states)] + back
        own = here[:, states]
        left = both + loss - own
        share = np.where(both == NONE, 0, np.exp(left))
        sizes = of_back + np.abs(both) + np.abs(both + loss) + np.abs(left) + 2
        relative = np.where(share == 0, 0, sizes)
        of_class = states[:, None] == np.arange(log_probs.shape[2])
        probability = np.exp(here)
        found = probability - share @ of_class
        value[:count, n] = scale * (found if np.isfinite(loss) else np.nan)
        magnitude[:count, n] = np.abs(scale) * (probability + (share * relative) @ of_class)
        length[:, n] += of_class.sum(axis=0)
    return {"grad_input": Expected(value, length, magnitude)}
