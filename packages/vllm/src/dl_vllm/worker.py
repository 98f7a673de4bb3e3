"""Worker of vLLM on the dl device. Needs vLLM."""

from __future__ import annotations

import gc
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from vllm.config import set_current_vllm_config
from vllm.logger import init_logger
from vllm.platforms import current_platform
from vllm.utils.mem_utils import format_gib
from vllm.utils.torch_utils import set_random_seed
from vllm.v1.worker.gpu_worker import Worker, init_worker_distributed_environment
from vllm.v1.worker.worker_base import CompilationTimes

from dl_vllm.devices import demand_device
from dl_vllm.memory import cache_bytes
from dl_vllm.model_runner import DlModelRunner

logger = init_logger(__name__)
_dl = torch.get_device_module("dl")


class DlWorker(Worker):  # type: ignore[misc]  # vLLM need not be installed
    """Process that runs a model, or a shard, on one dl device."""

    def init_device(self) -> None:
        """Set the device, and create the process groups and the model runner.

        :raises ValueError: there is no device for this worker.
        """
        demand_device(self.local_rank, _dl.device_count())
        index = current_platform.logical_device_id_to_visible_device_id(self.local_rank)
        self.device = torch.device("dl", index)
        _dl.set_device(self.device)
        current_platform.check_if_supports_dtype(self.model_config.dtype)
        init_worker_distributed_environment(
            self.vllm_config,
            self.rank,
            self.distributed_init_method,
            self.local_rank,
            current_platform.dist_backend,
        )
        set_random_seed(self.model_config.seed)
        gc.collect()
        _dl.empty_cache()
        self._init_workspace_and_model_runner()

    def _make_model_runner(self) -> DlModelRunner:
        return DlModelRunner(self.vllm_config, self.device)

    def _maybe_get_memory_pool_context(self, tag: str) -> AbstractContextManager[None]:
        return nullcontext()

    @torch.inference_mode()
    def determine_available_memory(self) -> int:
        """Return the size of the KV cache in bytes: as configured, or the memory that is left."""
        if explicit := self.cache_config.kv_cache_memory_bytes:
            free, _ = _dl.mem_get_info(self.device)
            if explicit > free:
                raise ValueError(
                    f"[dl] the KV cache needs {format_gib(explicit)} GiB, but {self.device} has "
                    f"{format_gib(free)} GiB of free memory; decrease `kv_cache_memory_bytes`"
                )
            return int(explicit)
        _dl.reset_peak_memory_stats(self.device)
        with set_current_vllm_config(self.vllm_config):
            self.model_runner.profile_run()
        _dl.synchronize(self.device)
        peak = _dl.max_memory_allocated(self.device)
        allocated = _dl.memory_allocated(self.device)
        _dl.empty_cache()
        free, total = _dl.mem_get_info(self.device)
        size = cache_bytes(total, free, allocated, peak, self.cache_config.gpu_memory_utilization)
        logger.info("KV cache of %s GiB on %s", format_gib(size), self.device)
        return size

    def compile_or_warm_up_model(self) -> CompilationTimes:
        """Set the seed again: nothing is compiled before the first request."""
        set_random_seed(self.model_config.seed, self.parallel_config.data_parallel_index)
        return CompilationTimes(
            language_model=self.compilation_config.compilation_time,
            encoder=self.compilation_config.encoder_compilation_time,
        )

    def update_weights(self, update_info: Any) -> None:
        """Receive other weights."""
        self.model_runner.weights.forget()
        super().update_weights(update_info)

    def sleep(self, level: int = 1) -> None:
        raise RuntimeError("[dl] sleep mode is not supported on dl")

    def wake_up(self, tags: list[str] | None = None) -> None:
        raise RuntimeError("[dl] sleep mode is not supported on dl")
