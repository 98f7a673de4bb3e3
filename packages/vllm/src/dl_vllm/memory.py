"""Size of the KV cache."""

from __future__ import annotations


def cache_bytes(total: int, free: int, allocated: int, peak: int, utilization: float) -> int:
    """Return the number of bytes that the KV cache may use.

    :param total: memory of the device.
    :param free: memory that no process uses.
    :param allocated: memory of this process's tensors, mainly weights.
    :param peak: their maximum during a run of the largest batch.
    :param utilization: fraction of ``total`` that the engine may use.
    :raises ValueError: nothing is left.
    """
    transient = max(peak - allocated, 0)
    # Other processes' memory counts only where less is free than the engine may use.
    left = min(int(total * utilization) - allocated, int(free * utilization)) - transient
    if left <= 0:
        raise ValueError(
            f"[dl] no memory is left for the KV cache: of {total} bytes, {free} are free, the "
            f"model has {allocated} and a batch needs {transient}; decrease "
            "`max_num_batched_tokens`, increase `gpu_memory_utilization`, or set "
            "`kv_cache_memory_bytes`"
        )
    return left
