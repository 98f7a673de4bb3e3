"""Masks of causal attention with a window, in which true means that a key takes part."""

from __future__ import annotations

import torch


def decode_mask(lengths: torch.Tensor, tokens: int, window: int | None) -> torch.Tensor:
    """Return [sequences, 1, 1, tokens] for the last token of each sequence.

    :param lengths: [sequences], numbers of tokens, the last one included.
    :param window: number of keys that a token attends to, itself included; None for all.
    """
    keys = torch.arange(tokens, device=lengths.device, dtype=lengths.dtype)
    ends = lengths[:, None]
    mask = keys < ends
    if window is not None:
        mask &= keys >= ends - window
    return mask[:, None, None]


def prefill_mask(
    queries: int, tokens: int, window: int | None, device: torch.device
) -> torch.Tensor:
    """Return [1, 1, queries, tokens] for the last tokens of a sequence."""
    keys = torch.arange(tokens, device=device)
    places = torch.arange(tokens - queries, tokens, device=device)[:, None]
    mask = keys <= places
    if window is not None:
        mask &= keys > places - window
    return mask[None, None]
