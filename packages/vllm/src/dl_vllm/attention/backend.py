"""Attention backend of vLLM on the dl device. Needs vLLM."""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from vllm.v1.attention.backend import AttentionBackend, AttentionImpl, AttentionType, MultipleOf
from vllm.v1.kv_cache_interface import KVCacheLayout

from dl_vllm.attention.cache import gather, store
from dl_vllm.attention.metadata import (
    DlAttentionMetadata,
    DlAttentionMetadataBuilder,
    Prompt,
)
from dl_vllm.attention.paged import attend_pages, is_available
from dl_vllm.attention.product import Scores, attend


class DlAttentionBackend(AttentionBackend):  # type: ignore[misc]  # vLLM need not be installed
    """Attention of decoders over a paged cache, with windows, ALiBi and capped scores."""

    forward_includes_kv_cache_update = False
    supported_dtypes: ClassVar[list[torch.dtype]] = [torch.float32, torch.float16, torch.bfloat16]

    @staticmethod
    def get_name() -> str:
        return "CUSTOM"

    @staticmethod
    def get_impl_cls() -> type[DlAttention]:
        return DlAttention

    @staticmethod
    def get_builder_cls() -> type[DlAttentionMetadataBuilder]:
        return DlAttentionMetadataBuilder

    @staticmethod
    def get_supported_kernel_block_sizes(kv_cache_spec: Any = None) -> list[int | MultipleOf]:
        return [MultipleOf(1)]

    @classmethod
    def supported_kv_cache_layouts(cls) -> tuple[KVCacheLayout, ...]:
        # Blocks are contiguous, so that their contents can be arranged as in cache.py.
        return (KVCacheLayout.LBHNC,)

    @classmethod
    def supports_sliding_window(cls) -> bool:
        return True


class DlAttention(AttentionImpl):  # type: ignore[misc]  # vLLM need not be installed
    """Attention of one layer."""

    def __init__(
        self,
        num_heads: int,
        head_size: int,
        scale: float,
        num_kv_heads: int | None = None,
        alibi_slopes: list[float] | None = None,
        sliding_window: int | None = None,
        kv_cache_dtype: str = "auto",
        logits_soft_cap: float | None = None,
        attn_type: str = AttentionType.DECODER,
        kv_sharing_target_layer_name: str | None = None,
        **others: Any,
    ) -> None:
        if attn_type != AttentionType.DECODER:
            raise ValueError(
                f"[dl] attention of the type {attn_type} is not supported on dl; only decoders are"
            )
        if named := sorted(name for name, value in others.items() if value is not None):
            raise ValueError(f"[dl] attention with {', '.join(named)} is not supported on dl")
        self.num_heads = num_heads
        self.head_size = head_size
        self.scale = float(scale)
        self.num_kv_heads = num_kv_heads or num_heads
        self.kv_cache_dtype = kv_cache_dtype
        self.kv_sharing_target_layer_name = kv_sharing_target_layer_name
        self.window = sliding_window
        slopes = None
        if alibi_slopes is not None:
            slopes = torch.tensor(alibi_slopes, dtype=torch.float32, device="dl")
        self.scores = Scores(self.scale, logits_soft_cap or 0.0, slopes)
        device = torch.device("dl", torch.accelerator.current_device_index())
        self.uses_pages = slopes is None and not logits_soft_cap and is_available(device)

    def do_kv_cache_update(
        self,
        layer: torch.nn.Module,
        key: torch.Tensor,
        value: torch.Tensor,
        kv_cache: torch.Tensor,
        slot_mapping: torch.Tensor,
    ) -> None:
        """Store the keys and values of a batch."""
        from vllm.forward_context import get_forward_context

        described = get_forward_context().attn_metadata
        if described is None:
            return
        metadata = described[layer.layer_name]
        count = metadata.tokens
        store(kv_cache, key[:count], value[:count], metadata.rows)

    def forward(
        self,
        layer: torch.nn.Module,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        kv_cache: torch.Tensor,
        attn_metadata: DlAttentionMetadata | None,
        output: torch.Tensor,
        output_scale: torch.Tensor | None = None,
        output_block_scale: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Compute the attention of a batch into ``output`` [tokens, heads, size].

        :param attn_metadata: None in a run that only measures memory.
        """
        if attn_metadata is None:
            return output.zero_()
        if attn_metadata.decodes:
            self._decode(query, kv_cache, attn_metadata, output)
        for prompt in attn_metadata.prompts:
            self._prefill(prompt, query, key, value, kv_cache, attn_metadata, output)
        return output

    def _decode(
        self,
        query: torch.Tensor,
        cache: torch.Tensor,
        metadata: DlAttentionMetadata,
        output: torch.Tensor,
    ) -> None:
        count = metadata.decodes
        if self.uses_pages:
            hidden = None if self.window is None else metadata.hidden(self.window)
            output[:count] = attend_pages(
                query[:count],
                cache,
                metadata.host_lengths,
                metadata.doubled,
                hidden,
                self.scale,
            )
            return
        blocks = metadata.blocks(max(metadata.host_lengths))
        keys, values = gather(cache, metadata.table[:count, :blocks])
        mask = metadata.decode_mask(self.window)
        result = attend(query[:count].unsqueeze(2), keys, values, self.scores, mask)
        output[:count] = result.squeeze(2)

    def _prefill(
        self,
        prompt: Prompt,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        cache: torch.Tensor,
        metadata: DlAttentionMetadata,
        output: torch.Tensor,
    ) -> None:
        part = slice(prompt.start, prompt.end)
        if prompt.end - prompt.start == prompt.length and key is not None:
            keys, values = _heads_first(key[part]), _heads_first(value[part])
        else:
            blocks = metadata.blocks(prompt.length)
            table = metadata.table[prompt.index : prompt.index + 1, :blocks]
            keys, values = (found[:, :, : prompt.length] for found in gather(cache, table))
        mask = metadata.prompt_mask(prompt, self.window)
        result = attend(_heads_first(query[part]), keys, values, self.scores, mask)
        output[part] = result[0].transpose(0, 1)


def _heads_first(tokens: torch.Tensor) -> torch.Tensor:
    """View [tokens, heads, size] as [1, heads, tokens, size]."""
    return tokens.transpose(0, 1).unsqueeze(0)
