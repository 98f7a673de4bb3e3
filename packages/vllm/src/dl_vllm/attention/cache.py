"""Layout of the paged KV cache: a block has the keys of its tokens, then their values.

vLLM allocates blocks of equal size in bytes and leaves their contents to the backend. With keys and
values in separate runs, each is a dense table of rows, as the contract's operators require.
"""

from __future__ import annotations

import torch


def blocks_of(cache: torch.Tensor) -> torch.Tensor:
    """View vLLM's [blocks, heads, block_size, 2 · size] as [blocks, 2, block_size, heads, size]."""
    blocks, heads, block_size, width = cache.shape
    return cache.view(blocks, 2, block_size, heads, width // 2)


def rows_of(cache: torch.Tensor) -> torch.Tensor:
    """View the cache as rows [blocks · 2 · block_size, heads, size] of keys and values."""
    return blocks_of(cache).flatten(0, 2)


def key_rows(slots: torch.Tensor, block_size: int) -> torch.Tensor:
    """Return the rows of keys for vLLM's slots; values are ``block_size`` rows after them."""
    return slots + torch.div(slots, block_size, rounding_mode="floor") * block_size


def store(cache: torch.Tensor, key: torch.Tensor, value: torch.Tensor, rows: torch.Tensor) -> None:
    """Store keys and values [tokens, heads, size] in the rows of :func:`both_rows`."""
    rows_of(cache).index_copy_(0, rows, torch.cat((key, value)))


def both_rows(slots: torch.Tensor, block_size: int) -> torch.Tensor:
    """Return the rows of the keys of all tokens, then of their values."""
    keys = key_rows(slots, block_size)
    return torch.cat((keys, keys + block_size))


def gather(cache: torch.Tensor, table: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return copies of keys and values [sequences, heads, tokens, size] of the table's blocks.

    :param table: [sequences, blocks].
    """
    found = blocks_of(cache)[table]
    keys, values = found.unbind(2)
    return keys.flatten(1, 2).transpose(1, 2), values.flatten(1, 2).transpose(1, 2)
