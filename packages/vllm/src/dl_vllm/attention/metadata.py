"""Description of a batch that all attention layers of a step share. Needs vLLM."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import torch
from vllm.config import VllmConfig
from vllm.v1.attention.backend import (
    AttentionMetadata,
    AttentionMetadataBuilder,
    CommonAttentionMetadata,
)
from vllm.v1.attention.backends.utils import split_decodes_and_prefills

from dl_vllm.attention.cache import both_rows
from dl_vllm.attention.masks import decode_mask, prefill_mask


@dataclass(frozen=True)
class Prompt:
    """Part of a prompt: tokens ``start`` to ``end`` of the batch are the last of ``length``."""

    index: int
    start: int
    end: int
    length: int


@dataclass
class DlAttentionMetadata(AttentionMetadata):  # type: ignore[misc]  # vLLM need not be installed
    """Batch: first the sequences with one new token, then the parts of prompts.

    :ivar tokens: number of tokens of the batch.
    :ivar decodes: number of sequences with one new token.
    :ivar lengths: numbers of tokens of these sequences; ``host_lengths`` in host memory.
    :ivar table: [sequences, blocks], the blocks of each sequence.
    :ivar rows: rows of the cache for the new keys, then the new values.
    """

    tokens: int
    decodes: int
    lengths: torch.Tensor
    host_lengths: list[int]
    table: torch.Tensor
    block_size: int
    rows: torch.Tensor
    prompts: list[Prompt]
    _masks: dict[Any, torch.Tensor] = field(default_factory=dict)

    def blocks(self, length: int) -> int:
        """Return the number of blocks that ``length`` tokens need."""
        return -(-length // self.block_size)

    def decode_mask(self, window: int | None) -> torch.Tensor:
        """Return the mask of the sequences with one new token, which layers share."""
        key = ("decode", window)
        if key not in self._masks:
            tokens = self.blocks(max(self.host_lengths)) * self.block_size
            self._masks[key] = decode_mask(self.lengths, tokens, window)
        return self._masks[key]

    def hidden(self, window: int) -> torch.Tensor | None:
        """Return [sequences, tokens], true before the window; None if all keys are in it."""
        if max(self.host_lengths) <= window:
            return None
        key = ("hidden", window)
        if key not in self._masks:
            self._masks[key] = ~self.decode_mask(window)[:, 0, 0]
        return self._masks[key]

    @cached_property
    def doubled(self) -> torch.Tensor:
        """Twice the block numbers of the sequences with one new token."""
        return self.table[: self.decodes, : self.blocks(max(self.host_lengths))] * 2

    def prompt_mask(self, prompt: Prompt, window: int | None) -> torch.Tensor | None:
        """Return the mask of a part of a prompt; None if it is causal and nothing else."""
        queries = prompt.end - prompt.start
        if queries == prompt.length and (window is None or window >= queries):
            return None
        key = (prompt.index, window)
        if key not in self._masks:
            device = self.lengths.device
            self._masks[key] = prefill_mask(queries, prompt.length, window, device)
        return self._masks[key]


class DlAttentionMetadataBuilder(AttentionMetadataBuilder):  # type: ignore[misc]
    """Builder of :class:`DlAttentionMetadata` for the layers of one group of caches."""

    # The runner moves sequences with one new token to the front of a batch.
    reorder_batch_threshold = 1

    def __init__(
        self,
        kv_cache_spec: Any,
        layer_names: list[str],
        vllm_config: VllmConfig,
        device: torch.device,
    ) -> None:
        super().__init__(kv_cache_spec, layer_names, vllm_config, device)
        self.block_size = int(kv_cache_spec.block_size)

    def build(
        self,
        common_prefix_len: int,
        common_attn_metadata: CommonAttentionMetadata,
        fast_build: bool = False,
    ) -> DlAttentionMetadata:
        """Return the description of a batch.

        :raises ValueError: a token would attend to later tokens.
        """
        common = common_attn_metadata
        if common.causal is not True:
            raise ValueError("[dl] attention that is not causal is not supported on dl")
        decodes, _, _, _ = split_decodes_and_prefills(common)
        lengths = common.seq_lens_cpu_upper_bound.tolist()
        starts = common.query_start_loc_cpu.tolist()
        return DlAttentionMetadata(
            tokens=common.num_actual_tokens,
            decodes=decodes,
            lengths=common.seq_lens[:decodes],
            host_lengths=lengths[:decodes],
            table=common.block_table_tensor,
            block_size=self.block_size,
            rows=both_rows(common.slot_mapping[: common.num_actual_tokens], self.block_size),
            prompts=[
                Prompt(index, starts[index], starts[index + 1], lengths[index])
                for index in range(decodes, common.num_reqs)
            ],
        )
