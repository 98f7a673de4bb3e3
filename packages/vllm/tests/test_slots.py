"""Slots of new tokens agree with the block tables."""

from __future__ import annotations

import pytest
import torch

from dl_vllm.slots import PADDING, compute_slot_mapping


def _compute(parallel_size: int = 1) -> torch.Tensor:
    starts = torch.tensor([0, 3, 4], device="dl", dtype=torch.int32)
    positions = torch.tensor([3, 4, 5, 9], device="dl")
    table = torch.tensor([[7, 2, 0], [1, 8, 5]], device="dl", dtype=torch.int32)
    slots = torch.zeros(6, device="dl", dtype=torch.int64)
    arguments = (4, 6, starts, positions, table, 3, slots, 4, parallel_size)
    compute_slot_mapping(*arguments, 0, 1, PADDING, 1024)
    return slots


def test_each_token_gets_the_slot_of_its_block() -> None:
    assert _compute().tolist() == [31, 8, 9, 21, PADDING, PADDING]


def test_a_cache_split_over_devices_is_refused() -> None:
    with pytest.raises(ValueError, match="decode_context_parallel_size"):
        _compute(parallel_size=2)
