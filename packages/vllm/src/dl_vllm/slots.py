"""Replacement of vLLM's Triton kernel that computes where new keys and values are stored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

PADDING = -1
"""Slot of a token whose key and value are not stored."""


def compute_slot_mapping(
    num_tokens: int,
    max_num_tokens: int,
    query_start_loc: torch.Tensor,
    positions: torch.Tensor,
    block_table: torch.Tensor,
    block_table_stride: int,
    slot_mapping: torch.Tensor,
    block_size: int,
    parallel_size: int,
    *_: Any,
) -> None:
    """Write the slot of each token, ``block * block_size + offset``, without synchronizing.

    :param query_start_loc: [requests + 1], the first token of each request.
    :param positions: [tokens], the position of each token in its sequence.
    :param block_table: [requests, blocks], the blocks of each sequence.
    :param slot_mapping: output; entries after the last token become :data:`PADDING`.
    :param parallel_size: number of devices over which the cache is split.
    :raises ValueError: the cache is split over several devices.
    """
    if parallel_size != 1:
        raise ValueError(
            "[dl] decode context parallelism is not supported on dl; "
            "set `decode_context_parallel_size` to 1"
        )
    device = positions.device
    tokens = torch.arange(num_tokens, device=device, dtype=query_start_loc.dtype)
    request = torch.searchsorted(query_start_loc[1:], tokens, right=True)
    place = positions[:num_tokens]
    block = torch.div(place, block_size, rounding_mode="floor")
    numbers = block_table[request, block].to(torch.int64)
    slots = numbers * block_size + (place - block * block_size)
    slot_mapping[:num_tokens] = slots
    slot_mapping[num_tokens:max_num_tokens] = PADDING


OVERRIDES: dict[str, Callable[..., None]] = {
    "vllm.v1.worker.block_table.ComputeSlotMappingKernel.kernel": compute_slot_mapping
}
"""Functions by the name of the kernel that they replace."""
