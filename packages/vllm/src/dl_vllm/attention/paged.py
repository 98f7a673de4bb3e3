"""Attention of one new token per sequence over the paged cache, without copying the cache."""

from __future__ import annotations

import torch

from dl_vllm.attention.cache import blocks_of
from dl_vllm.operators import has_operator


def is_available(device: torch.device) -> bool:
    """Return True if the device's vendor has the contract's operator."""
    return has_operator("paged_attention", device)


def tables(cache: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """View the cache as tables of rows, for keys and for values, with block numbers doubled.

    Runs of keys and of values alternate in the cache. The table of keys begins with the first run,
    and the table of values with the second; so run 2 · i of either belongs to block i.
    """
    blocks, _, block_size, heads, size = blocks_of(cache).shape
    rows = cache.view(2 * blocks * block_size, heads * size)
    return rows[:-block_size], rows[block_size:]


def attend_pages(
    query: torch.Tensor,
    cache: torch.Tensor,
    lengths: list[int],
    doubled: torch.Tensor,
    hidden: torch.Tensor | None,
    scale: float,
) -> torch.Tensor:
    """Return [sequences, heads, size] for one query [heads, size] of each sequence.

    :param doubled: [sequences, blocks], twice the block numbers.
    :param hidden: [sequences, tokens], true for keys that are ignored; None for none.
    """
    _, _, block_size, key_heads, size = blocks_of(cache).shape
    keys, values = tables(cache)
    # The operator's own scale is 1 / √size.
    factor = scale * size**0.5
    scaled = query if factor == 1.0 else query * factor
    found: torch.Tensor = torch.ops.dl.paged_attention(
        scaled, keys, values, lengths, doubled, hidden, key_heads, block_size
    )
    return found
