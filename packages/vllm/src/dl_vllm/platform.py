"""vLLM's description of the dl device. Needs vLLM."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import torch
from vllm.logger import init_logger
from vllm.platforms.interface import Platform, PlatformEnum

from dl_vllm.devices import demand_device

if TYPE_CHECKING:
    from vllm.config import VllmConfig
    from vllm.config.kernel import IrOpPriorityConfig

logger = init_logger(__name__)
_dl = torch.get_device_module("dl")

DTYPES = (torch.bfloat16, torch.float16, torch.float32)
"""Supported dtypes of a model; vLLM uses the first one if a model's own is not among them."""


class DlPlatform(Platform):  # type: ignore[misc]  # vLLM need not be installed
    """Any accelerator under torch's device ``dl``."""

    _enum = PlatformEnum.OOT
    device_name = "dl"
    device_type = "dl"
    dispatch_key = "PrivateUse1"
    dist_backend = "dicl"
    device_control_env_var = "DL_VISIBLE_DEVICES"
    # Compiles small functions of vLLM; the calls that they save are not worth a compilation.
    simple_compile_backend = "eager"

    @property
    def supported_dtypes(self) -> list[torch.dtype]:
        return list(DTYPES)

    @classmethod
    def get_device_name(cls, device_id: int = 0) -> str:
        return str(_dl.get_device_name(device_id))

    @classmethod
    def get_device_total_memory(cls, device_id: int = 0) -> int:
        return int(_dl.get_device_properties(device_id).total_memory)

    @classmethod
    def get_current_memory_usage(cls, device: torch.types.Device | None = None) -> float:
        return float(_dl.memory_allocated(device))

    @classmethod
    def set_device(cls, device: torch.device) -> None:
        _dl.set_device(device)

    @classmethod
    def manual_seed_all(cls, seed: int) -> None:
        _dl.manual_seed_all(seed)

    @classmethod
    def num_compute_units(cls, device_id: int = 0) -> int:
        return int(_dl.get_device_properties(device_id).multi_processor_count)

    @classmethod
    def check_if_supports_dtype(cls, dtype: torch.dtype) -> None:
        if dtype not in DTYPES:
            names = ", ".join(str(known) for known in DTYPES)
            raise ValueError(
                f"[dl] the model has the dtype {dtype}, which is not one of {names}; "
                "choose a supported one with `dtype`"
            )

    @classmethod
    def verify_quantization(cls, quant: str) -> None:
        raise ValueError(
            f"[dl] the quantization method '{quant}' is not supported on dl; load the model "
            "without quantization"
        )

    @classmethod
    def check_and_update_config(cls, vllm_config: VllmConfig) -> None:
        """Select the worker, and switch off the features that need CUDA or Triton.

        :raises ValueError: a feature that cannot be switched off is not supported.
        """
        from vllm.config import CompilationMode, CUDAGraphMode

        parallel = vllm_config.parallel_config
        if parallel.worker_cls == "auto":
            parallel.worker_cls = "dl_vllm.worker.DlWorker"
        if parallel.enable_dbo:
            raise ValueError("[dl] dual-batch overlap is not supported on dl; remove `enable_dbo`")
        parallel.disable_custom_all_reduce = True
        if parallel.nnodes == 1 and parallel.distributed_executor_backend in {None, "mp", "uni"}:
            # The workers would find the same error, but vLLM does not show it to the caller.
            demand_device(parallel.world_size - 1, _dl.device_count())
        # A child that was forked after the device was used could not use it.
        os.environ.setdefault("VLLM_WORKER_MULTIPROC_METHOD", "spawn")
        # vLLM's second model runner consists of Triton kernels.
        os.environ["VLLM_USE_V2_MODEL_RUNNER"] = "0"

        vllm_config.scheduler_config.async_scheduling = False
        compilation = vllm_config.compilation_config
        compilation.mode = CompilationMode.NONE
        compilation.cudagraph_mode = CUDAGraphMode.NONE
        compilation.cudagraph_capture_sizes = []
        cls._check_model(vllm_config)

    @staticmethod
    def _check_model(vllm_config: VllmConfig) -> None:
        model = vllm_config.model_config
        if model is None:
            return
        if getattr(model, "use_mla", False):
            raise ValueError(
                f"[dl] {model.model} uses multi-head latent attention, which is not supported "
                "on dl; choose a model with multi-head or grouped-query attention"
            )
        cache = vllm_config.cache_config.cache_dtype
        if cache not in {"auto", "float16", "bfloat16"}:
            raise ValueError(
                f"[dl] the KV cache has the dtype {cache}, which is not supported on dl; "
                "remove `kv_cache_dtype`"
            )

    @classmethod
    def get_attn_backend_cls(
        cls, selected_backend: Any, attn_selector_config: Any, num_heads: int | None = None
    ) -> str:
        """Return the attention backend.

        :raises ValueError: a kind of attention is not supported.
        """
        if attn_selector_config.use_mla or attn_selector_config.use_sparse:
            kind = "multi-head latent" if attn_selector_config.use_mla else "sparse"
            raise ValueError(f"[dl] {kind} attention is not supported on dl")
        if attn_selector_config.has_sink:
            raise ValueError("[dl] attention sinks are not supported on dl")
        if selected_backend is not None and selected_backend.name != "CUSTOM":
            logger.info("dl has an attention backend of its own; %s is ignored", selected_backend)
        return "dl_vllm.attention.backend.DlAttentionBackend"

    @classmethod
    def get_punica_wrapper(cls) -> str:
        """Return the implementation of LoRA."""
        return "dl_vllm.layers.lora.DlPunicaWrapper"

    @classmethod
    def get_device_communicator_cls(cls) -> str:
        return "dl_vllm.communicator.DlCommunicator"

    @classmethod
    def import_kernels(cls) -> None:
        """Import nothing: vLLM's own kernels are compiled for another device."""

    @classmethod
    def import_ir_kernels(cls) -> None:
        import dl_vllm.layers.normalization  # noqa: F401

    @classmethod
    def get_default_ir_op_priority(cls, vllm_config: VllmConfig) -> IrOpPriorityConfig:
        from vllm.config.kernel import IrOpPriorityConfig

        return IrOpPriorityConfig.with_default(["dl", "native"], gelu_and_mul_sparse=["native"])

    @classmethod
    def register_triton_kernel_overrides(cls) -> None:
        from vllm.triton_utils.dispatcher import register_kernels

        from dl_vllm.slots import OVERRIDES

        register_kernels(OVERRIDES)

    @classmethod
    def check_runner_kv_caches_multi_layer(cls) -> None:
        """Accept several attention layers with the same layer index."""

    @classmethod
    def opaque_attention_op(cls) -> bool:
        return True

    @classmethod
    def support_hybrid_kv_cache(cls) -> bool:
        return True

    @classmethod
    def is_pin_memory_available(cls) -> bool:
        return True
