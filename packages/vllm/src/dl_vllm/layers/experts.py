"""Mixture of experts without quantization, on grouped matrix products. Needs vLLM."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.nn import functional
from vllm.model_executor.layers.fused_moe.activation import MoEActivation
from vllm.model_executor.layers.fused_moe.router.cpu_router import select_experts
from vllm.model_executor.layers.fused_moe.unquantized_fused_moe_method import (
    UnquantizedFusedMoEMethod,
)

from dl_vllm.layers.grouped import run_experts


def _gelu_tanh(gate: torch.Tensor) -> torch.Tensor:
    return functional.gelu(gate, approximate="tanh")


GATES: dict[MoEActivation, Callable[[torch.Tensor], torch.Tensor]] = {
    MoEActivation.SILU: functional.silu,
    MoEActivation.GELU: functional.gelu,
    MoEActivation.GELU_TANH: _gelu_tanh,
}
"""Functions of the first half of a row, by which the second half is multiplied."""


@UnquantizedFusedMoEMethod.register_oot
class DlUnquantizedFusedMoEMethod(UnquantizedFusedMoEMethod):  # type: ignore[misc]
    """Choice of experts and their products, all on the device and without synchronization."""

    @property
    def is_monolithic(self) -> bool:
        """Return True: this method also chooses the experts, with vLLM's functions in torch."""
        return True

    def process_weights_after_loading(self, layer: Any) -> None:
        """Leave the weights as they were loaded.

        :raises ValueError: the layer has a feature that is not supported.
        """
        if layer.activation not in GATES:
            raise ValueError(
                f"[dl] experts with the activation {layer.activation.value} are not supported on dl"
            )
        if layer.expert_map is not None:
            raise ValueError(
                "[dl] expert parallelism is not supported on dl; remove `enable_expert_parallel`"
            )

    def apply_monolithic(
        self,
        layer: Any,
        x: torch.Tensor,
        router_logits: torch.Tensor,
        input_ids: torch.Tensor | None = None,
    ) -> torch.Tensor:
        weights, experts = select_experts(
            hidden_states=x,
            router_logits=router_logits,
            top_k=layer.top_k,
            use_grouped_topk=layer.use_grouped_topk,
            renormalize=layer.renormalize,
            topk_group=layer.topk_group,
            num_expert_group=layer.num_expert_group,
            custom_routing_function=layer.custom_routing_function,
            scoring_func=layer.scoring_func,
            routed_scaling_factor=layer.routed_scaling_factor,
            e_score_correction_bias=layer.e_score_correction_bias,
        )
        return run_experts(
            x,
            layer.w13_weight,
            layer.w2_weight,
            weights,
            experts,
            GATES[layer.activation],
            (getattr(layer, "w13_bias", None), getattr(layer, "w2_bias", None)),
            layer.apply_router_weight_on_input,
        )
