"""LoRA in a batch whose tokens have different adapters, or none. Needs vLLM."""

from __future__ import annotations

from typing import Any

import torch
from vllm.lora.punica_wrapper.punica_cpu import PunicaWrapperCPU

from dl_vllm.layers.low_rank import add_adapters, add_outer


class DlPunicaWrapper(PunicaWrapperCPU):  # type: ignore[misc]  # vLLM need not be installed
    """Products of adapters with the weights in place.

    vLLM's functions in torch copy the adapter's weights for each token, and use an adapter for the
    tokens without one if a batch has both kinds.
    """

    def add_lora_linear(
        self,
        y: torch.Tensor,
        x: torch.Tensor,
        lora_a_stacked: tuple[torch.Tensor, ...],
        lora_b_stacked: tuple[torch.Tensor, ...],
        scale: float,
        output_slices: tuple[int, ...],
        **_: Any,
    ) -> None:
        """Add the products of each slice of ``y``."""
        rows, results = x.view(-1, x.shape[-1]), y.view(-1, y.shape[-1])
        slots = self.token_lora_indices
        parts = results.split(list(output_slices), dim=1)
        for part, inner, outer in zip(parts, lora_a_stacked, lora_b_stacked, strict=True):
            add_adapters(part, rows, inner, outer, slots, scale)

    def add_lora_embedding(
        self,
        y: torch.Tensor,
        x: torch.Tensor,
        lora_b_stacked: torch.Tensor,
        add_inputs: bool = True,
        **_: Any,
    ) -> None:
        """Add the product of rows of A, which vLLM has looked up, with B."""
        for slot in range(lora_b_stacked.shape[0]):
            add_outer(y, x, lora_b_stacked, self.token_lora_indices, slot)

    def add_lora_logits(
        self,
        y: torch.Tensor,
        x: torch.Tensor,
        lora_a_stacked: torch.Tensor,
        lora_b_stacked: torch.Tensor,
        scale: float,
        **_: Any,
    ) -> None:
        rows, results = x.view(-1, x.shape[-1]), y.view(-1, y.shape[-1])
        slots = self.sampler_indices
        add_adapters(results, rows, lora_a_stacked, lora_b_stacked, slots, scale)
