"""Keys and values are found where they were stored."""

from __future__ import annotations

import torch

from dl_vllm.attention.cache import both_rows, gather, store

BLOCKS, HEADS, BLOCK_SIZE, SIZE = 6, 2, 4, 8


def _cache() -> torch.Tensor:
    return torch.zeros(BLOCKS, HEADS, BLOCK_SIZE, 2 * SIZE, device="dl")


def test_tokens_in_scattered_blocks_are_gathered_in_order() -> None:
    cache = _cache()
    table = torch.tensor([[5, 2], [1, 3]], device="dl", dtype=torch.int32)
    keys, values = torch.randn(2, 2, 2 * BLOCK_SIZE, HEADS, SIZE, device="dl")
    for sequence in range(2):
        places = torch.arange(2 * BLOCK_SIZE, device="dl")
        slots = table[sequence].long()[places // BLOCK_SIZE] * BLOCK_SIZE + places % BLOCK_SIZE
        store(cache, keys[sequence], values[sequence], both_rows(slots, BLOCK_SIZE))
    found_keys, found_values = gather(cache, table)
    torch.testing.assert_close(found_keys, keys.transpose(1, 2), rtol=0, atol=0)
    torch.testing.assert_close(found_values, values.transpose(1, 2), rtol=0, atol=0)


def test_other_blocks_are_unchanged() -> None:
    cache = _cache()
    slots = torch.tensor([4 * BLOCK_SIZE + 1], device="dl")
    ones = torch.ones(1, HEADS, SIZE, device="dl")
    store(cache, ones, ones, both_rows(slots, BLOCK_SIZE))
    assert cache[4].sum().item() == 2 * HEADS * SIZE
    assert cache.sum().item() == 2 * HEADS * SIZE
