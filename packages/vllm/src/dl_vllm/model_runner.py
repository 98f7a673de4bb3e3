"""Model runner of vLLM on the dl device. Needs vLLM."""

from __future__ import annotations

from typing import Any

import torch
from vllm.config import VllmConfig
from vllm.distributed import get_pp_group
from vllm.v1.sample.ops.topk_topp_sampler import (
    TopKTopPSampler,
    apply_top_k_top_p_pytorch,
    random_sample,
)
from vllm.v1.worker.gpu_model_runner import GPUModelRunner

import dl_vllm.layers.experts
import dl_vllm.layers.rotary  # noqa: F401  # both register themselves with vLLM
from dl_vllm.grammar import forbid, rows_of
from dl_vllm.weights import ConstantWeights


class DlTopKTopPSampler(TopKTopPSampler):  # type: ignore[misc]  # vLLM need not be installed
    """vLLM's sampler in torch operators, on any machine: Triton cannot run on dl tensors."""

    def forward_native(
        self,
        logits: torch.Tensor,
        generators: dict[int, torch.Generator],
        k: torch.Tensor | None,
        p: torch.Tensor | None,
    ) -> tuple[torch.Tensor, torch.Tensor | None]:
        logits = apply_top_k_top_p_pytorch(logits, k, p)
        processed = None
        if self.logprobs_mode == "processed_logits":
            processed = logits
        elif self.logprobs_mode == "processed_logprobs":
            processed = logits.log_softmax(dim=-1, dtype=torch.float32)
        probabilities = logits.softmax(dim=-1, dtype=torch.float32)
        return random_sample(probabilities, generators, self.use_fp64_gumbel), processed


class DlModelRunner(GPUModelRunner):  # type: ignore[misc]  # vLLM need not be installed
    """vLLM's model runner without CUDA streams and Triton kernels."""

    def __init__(self, vllm_config: VllmConfig, device: torch.device) -> None:
        super().__init__(vllm_config, device)
        sampler = self.sampler.topk_topp_sampler
        self.sampler.topk_topp_sampler = DlTopKTopPSampler(
            sampler.logprobs_mode, sampler.use_fp64_gumbel
        )

    def load_model(self, *args: Any, **keywords: Any) -> None:
        """Load the model, and allocate the input of a later stage of a pipeline.

        vLLM would allocate it in a run that measures memory, which a given cache size makes
        superfluous.
        """
        super().load_model(*args, **keywords)
        self.weights = ConstantWeights(self.model, self.device)
        if not get_pp_group().is_first_rank:
            self.intermediate_tensors = self.model.make_empty_intermediate_tensors(
                batch_size=self.max_num_tokens, dtype=self.model_config.dtype, device=self.device
            )

    def execute_model(self, *args: Any, **keywords: Any) -> Any:
        """Run the model; the vendor may prepack its weights."""
        with self.weights.used():
            return super().execute_model(*args, **keywords)

    def reload_weights(self, *args: Any, **keywords: Any) -> None:
        """Load other weights."""
        self.weights.forget()
        super().reload_weights(*args, **keywords)

    def sample_tokens(self, grammar_output: Any) -> Any:
        """Sample the next tokens; masks of structured output are applied on the device.

        vLLM would compile a function for that.
        """
        state = self.execute_model_state
        if grammar_output is None or state is None:
            return super().sample_tokens(grammar_output)
        targets, sources = rows_of(
            self.input_batch.req_ids,
            grammar_output.structured_output_request_ids,
            state.scheduler_output.scheduled_spec_decode_tokens,
        )
        if targets:
            forbid(state.logits, targets, grammar_output.grammar_bitmask[sources])
        return super().sample_tokens(None)

    def _zero_block_ids(self, block_ids: list[int]) -> None:
        """Zero blocks of the KV cache."""
        for cache in self.kv_caches:
            if isinstance(cache, torch.Tensor):
                cache[block_ids] = 0

    def _init_kv_zero_meta(self) -> None:
        """Prepare nothing: the blocks are zeroed by index."""
