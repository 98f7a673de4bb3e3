"""Names of ``torch.cuda`` that ``torch.dl`` does not have, each with the reason and the remedy.

Accessing one raises AttributeError with that text, so that ``hasattr`` returns False.
"""

from __future__ import annotations

_GRAPHS = "use torch.accelerator.Graph, which works if the vendor supports graph capture"
_POOLS = "dl has one caching allocator for each device and no private pools in Python"
_ALLOCATOR = "memory comes from dl-core's allocator only; create a tensor instead"
_SENSORS = "the vendor interface has no sensors; use the vendor's own tool"
_LIBRARY = "libraries of vendors are behind the vendor interface and have no handle in torch"
_RUNTIME = "dl does not have CUDA's runtime API; errors are raised as torch exceptions"
_HOST = "pinned memory of dl has no statistics"
_KERNELS = "it compiles CUDA sources; use torch operators instead"
_COMMUNICATION = "use torch.distributed; init_process_group chooses the backend for dl"
_EXTERNAL = "streams of other runtimes cannot be used on dl; create one with torch.dl.Stream()"

REFUSED: dict[str, str] = {
    "CUDAGraph": _GRAPHS,
    "CUDAPluggableAllocator": _ALLOCATOR,
    "CudaError": _RUNTIME,
    "DeferredCudaCallError": "nothing is deferred: the device starts with torch",
    "ExternalStream": _EXTERNAL,
    "GreenContext": "the vendor interface cannot divide a device",
    "MemPool": _POOLS,
    "XPUGraph": _GRAPHS,
    "XPUPluggableAllocator": _ALLOCATOR,
    "caching_allocator_disabled": _ALLOCATOR,
    "caching_allocator_enable": _ALLOCATOR,
    "change_current_allocator": _ALLOCATOR,
    "check_error": _RUNTIME,
    "clock_rate": _SENSORS,
    "comm": _COMMUNICATION,
    "cudaStatus": _RUNTIME,
    "cudart": _RUNTIME,
    "current_blas_handle": _LIBRARY,
    "current_solver_handle": _LIBRARY,
    "gds": "files are read through the host: torch.load(file, map_location='dl')",
    "get_stream_from_external": _EXTERNAL,
    "graph": _GRAPHS,
    "graph_pool_handle": _GRAPHS,
    "graphs": _GRAPHS,
    "green_contexts": "the vendor interface cannot divide a device",
    "host_memory_stats": _HOST,
    "host_memory_stats_as_nested_dict": _HOST,
    "jiterator": _KERNELS,
    "list_gpu_processes": _SENSORS,
    "make_graphed_callables": _GRAPHS,
    "memory_usage": _SENSORS,
    "nccl": _COMMUNICATION,
    "nvtx": "it marks ranges for NVIDIA's tools; use torch.profiler.record_function()",
    "power_draw": _SENSORS,
    "profiler": "it controls NVIDIA's profiler; use torch.profiler.profile()",
    "reset_accumulated_host_memory_stats": _HOST,
    "reset_peak_host_memory_stats": _HOST,
    "sparse": "it is empty; sparse tensors are created by functions of torch",
    "temperature": _SENSORS,
    "tunable": "it tunes cuBLAS and rocBLAS; dl vendors choose their kernels themselves",
    "use_mem_pool": _POOLS,
    "utilization": _SENSORS,
}


def refusal(name: str) -> str | None:
    """Return the error message for access to ``torch.dl.<name>``; None for unknown names."""
    reason = REFUSED.get(name)
    return None if reason is None else f"[torch.dl.{name}] is not available: {reason}"
