"""Tests for dependent draws: equal rows, correlated neighbours."""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch

Tensor = torch.Tensor

SIGMAS = 8.0
"""Threshold in standard deviations. A correlation exceeds it by chance once in 8e14 lags."""
CERTAIN_BITS = 64.0
"""Entropy in bits above which equal draws are not due to chance."""
FEWEST = 64
"""Minimum number of pairs for a correlation."""
_BLOCKS = tuple(2**power for power in range(5, 15))
"""Typical periods of kernels: threads of a group, elements of a block."""


def repetition(values: Tensor, entropy: Tensor) -> str:
    """Find values that are constant along a dimension, or two equal rows of the last dimension.

    :param entropy: collision entropy of each value, of the values' shape.
    """
    for dim, size in enumerate(values.shape):
        if size < 2:
            continue
        rows, bits = values.movedim(dim, 0), entropy.movedim(dim, 0)
        if float(bits[1:].sum()) >= CERTAIN_BITS and bool((rows[1:] == rows[:1]).all()):
            return f"all {size} draws along dimension {dim} are the same"
    if values.dim() < 2:
        return ""
    return _equal_rows(values.flatten(0, -2), entropy.flatten(0, -2))


def _equal_rows(rows: Tensor, entropy: Tensor) -> str:
    """Find two equal rows of a matrix, if each has enough entropy to be unique."""
    enough = entropy.sum(1) >= CERTAIN_BITS + 2 * math.log2(max(rows.size(0), 1))
    places = enough.nonzero().flatten()
    if places.numel() < 2:
        return ""
    wide = rows[places].double().contiguous().view(torch.int64)
    generator = torch.Generator().manual_seed(0)
    factors = torch.randint(-(2**62), 2**62, (rows.size(1),), generator=generator) | 1
    hashes, order = ((wide ^ (wide >> 31)) * factors).sum(1).sort()
    for at in (hashes[1:] == hashes[:-1]).nonzero().flatten().tolist():
        one, two = sorted(int(places[order[x]]) for x in (at, at + 1))
        if torch.equal(rows[one], rows[two]):
            return f"rows {one} and {two} of {rows.size(0)} have the same {rows.size(1)} draws"
    return ""


def correlation(scores: Tensor) -> str:
    """Find correlated neighbours along a dimension, or correlated values a block apart.

    :param scores: normalized draws, with mean 0 and variance 1, in the order of the draws.
    """
    scores = scores - scores.mean()
    for what, one, two in _pairs(scores):
        count = one.numel()
        if count < FEWEST:
            continue
        found = float((one * two).sum()) / math.sqrt(count)
        if abs(found) > SIGMAS:
            return f"{what} are correlated: {found / math.sqrt(count):.3g} in {count} pairs"
    return ""


def _pairs(scores: Tensor) -> Iterator[tuple[str, Tensor, Tensor]]:
    for dim, size in enumerate(scores.shape):
        if size > 1:
            one, two = scores.narrow(dim, 0, size - 1), scores.narrow(dim, 1, size - 1)
            yield f"neighbouring draws along dimension {dim}", one, two
    flat = scores.flatten()
    for lag in _BLOCKS:
        if lag < flat.numel():
            yield f"draws {lag} apart", flat[lag:], flat[:-lag]
