"""Masks of structured output, applied on the device without a compiler."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import torch

BITS = 32
"""Tokens per word of a mask."""


def rows_of(
    batch: Sequence[str], structured: Sequence[str], drafts: Mapping[str, Sequence[int]]
) -> tuple[list[int], list[int]]:
    """Return the rows of the logits that have a mask, and the rows of the masks, in one order.

    :param batch: requests in the order of the logits; a request has one row more than drafts.
    :param structured: requests in the order of the masks.
    :param drafts: draft tokens by request.
    """
    first, row = {}, 0
    for name in batch:
        first[name] = row
        row += 1 + len(drafts.get(name, ()))
    targets: list[int] = []
    sources: list[int] = []
    source = 0
    for name in structured:
        count = 1 + len(drafts.get(name, ()))
        if name in first:
            targets += range(first[name], first[name] + count)
            sources += range(source, source + count)
        source += count
    return targets, sources


def forbid(logits: torch.Tensor, rows: list[int], masks: npt.NDArray[np.int32]) -> None:
    """Set the logits of forbidden tokens to -infinity, in place.

    :param logits: [rows, vocabulary].
    :param masks: one row for each of ``rows``; bit t % 32 of word t // 32 allows token t.
    """
    words = torch.from_numpy(np.ascontiguousarray(masks)).to(logits.device)
    shifts = torch.arange(BITS, device=logits.device, dtype=torch.int32)
    bits = torch.bitwise_right_shift(words.unsqueeze(-1).expand(-1, -1, BITS), shifts) & 1
    forbidden = bits.flatten(1)[:, : logits.shape[1]] == 0
    # Tokens after the last word are padding of the vocabulary.
    columns = forbidden.shape[1]
    if rows == list(range(logits.shape[0])):
        logits[:, :columns].masked_fill_(forbidden, float("-inf"))
        return
    index = torch.tensor(rows, device=logits.device)
    logits[index, :columns] = logits[index, :columns].masked_fill(forbidden, float("-inf"))
