"""Names of ``torch.cuda`` that ``torch.dl`` does not have, each with the reason and the way out.

Asking for one is an AttributeError with that text, so that ``hasattr`` tells programs the truth.
"""

from __future__ import annotations

_GRAPHS = "use torch.accelerator.Graph, which works where the vendor captures graphs"
_POOLS = "dl has one caching allocator for each device and no private pools in Python"
_ALLOCATOR = "memory comes from the allocator of dl-core alone; make a tensor instead"
_SENSORS = "the vendor interface has no sensors; ask the vendor's own tool"
_LIBRARY = "what vendors compute with stays behind the vendor interface and has no handle in torch"
_RUNTIME = "vendors are no CUDA runtime; errors of theirs are raised as torch's own"
_HOST = "pinned memory of dl keeps no statistics"
_KERNELS = "it compiles CUDA sources; write the function with operators of torch"
_COMMUNICATION = "use torch.distributed, whose backend for dl is chosen by init_process_group"
_EXTERNAL = "a stream of another runtime cannot be one of dl; make one with torch.dl.Stream()"

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
    "nvtx": "it marks ranges for NVIDIA's tools; torch.profiler.record_function() does for torch's",
    "power_draw": _SENSORS,
    "profiler": "it steers NVIDIA's profiler; torch.profiler.profile() works",
    "reset_accumulated_host_memory_stats": _HOST,
    "reset_peak_host_memory_stats": _HOST,
    "sparse": "nothing is in it; sparse tensors are made by the functions of torch",
    "temperature": _SENSORS,
    "tunable": "it tunes cuBLAS and rocBLAS; vendors of dl choose their kernels themselves",
    "use_mem_pool": _POOLS,
    "utilization": _SENSORS,
}


def refusal(name: str) -> str | None:
    """What to say to somebody who asks for ``torch.dl.<name>``; None: nobody could expect it."""
    reason = REFUSED.get(name)
    return None if reason is None else f"[torch.dl.{name}] there is none: {reason}"
