"""Rotary position embedding in place, with the contract's operator. Needs vLLM."""

from __future__ import annotations

import torch
from vllm.model_executor.layers.rotary_embedding.base import RotaryEmbedding

from dl_vllm.operators import has_operator


@RotaryEmbedding.register_oot
class DlRotaryEmbedding(RotaryEmbedding):  # type: ignore[misc]  # vLLM need not be installed
    """Rotation of the first ``rotary_dim`` elements of each head of queries and keys."""

    _is_native: bool | None = None

    def forward_oot(
        self,
        positions: torch.Tensor,
        query: torch.Tensor,
        key: torch.Tensor | None = None,
    ) -> tuple[torch.Tensor, torch.Tensor | None]:
        if self._is_native is None:
            self._is_native = has_operator("rotary_embedding", query.device)
        if not self._is_native:
            native: tuple[torch.Tensor, torch.Tensor | None] = self.forward_native(
                positions, query, key
            )
            return native
        cache = self._match_cos_sin_cache_dtype(query)
        cos, sin = cache.index_select(0, positions.flatten()).unsqueeze(1).chunk(2, dim=-1)
        for tensor in (query, key):
            if tensor is not None:
                heads = tensor.view(cos.shape[0], -1, self.head_size)[..., : self.rotary_dim]
                torch.ops.dl.rotary_embedding_(heads, cos, sin, not self.is_neox_style)
        return query, key
