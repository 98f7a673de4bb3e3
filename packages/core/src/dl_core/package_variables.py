"""Documented variables of the project's other packages, which dl-core does not read itself.

The tests of the architecture compare the list with the tables in the packages' documents.
"""

from __future__ import annotations

DOCUMENTED = (
    "DL_ASCEND_DRIVER",
    "DL_ASCEND_HCCL",
    "DL_ASCEND_MSPTI",
    "DL_ASCEND_RTC",
    "DL_ASCEND_SIMULATED",
    "DL_BUILD_DIOPI_IMPL",
    "DL_BUILD_ISA",
    "DL_CAMBRICON_DRIVER",
    "DL_CAMBRICON_SIMULATED",
    "DL_CPU_CXX",
    "DL_CPU_DEVICES",
    "DL_CPU_FAMILIES",
    "DL_CPU_KERNEL_CACHE",
    "DL_CPU_KERNEL_CACHE_MB",
    "DL_CPU_KERNEL_CACHE_WAIT",
    "DL_CPU_ONEDNN",
    "DL_CPU_OPENBLAS",
    "DL_CUDA_ARCH",
    "DL_CUDA_CUBLASLT",
    "DL_CUDA_CUDNN",
    "DL_CUDA_CUPTI",
    "DL_CUDA_DRIVER",
    "DL_CUDA_FAMILIES",
    "DL_CUDA_LIBRARIES",
    "DL_CUDA_NCCL",
    "DL_CUDA_NVRTC",
    "DL_GPU_SIM_CAPABILITY",
    "DL_GPU_SIM_CUDA",
    "DL_GPU_SIM_DEVICES",
    "DL_GPU_SIM_FAIL",
    "DL_GPU_SIM_MEMORY",
    "DL_GPU_SIM_REPORT",
    "DL_GPU_SIM_SEED",
    "DL_GPU_SIM_STEPS",
    "DL_GPU_SIM_STRICT",
    "DL_LLVM_BIN",
    "DL_OPENCL_CACHE",
    "DL_OPENCL_CACHE_MIB",
    "DL_OPENCL_DRIVER",
    "DL_OPENCL_FAMILIES",
    "DL_OPENCL_SUB_GROUPS",
    "DL_ROCM_ARCH",
    "DL_ROCM_DRIVER",
    "DL_ROCM_FAMILIES",
    "DL_ROCM_HIPBLASLT",
    "DL_ROCM_HIPRTC",
    "DL_ROCM_LIBRARIES",
    "DL_ROCM_MIOPEN",
    "DL_ROCM_RCCL",
    "DL_ROCM_ROCTRACER",
    "DL_TEST_SAMPLE",
    "DL_TEST_SEED",
    "DL_TOOLS",
    "DL_TOOLS_DEVICE",
    "DL_TOOLS_LEVEL",
    "DL_TOOLS_OUTPUT",
    "DL_TUNING_DATABASE",
    "DL_TUNING_SITE",
)
"""Names of the variables, sorted."""

_INTERNAL = ("COVERAGE", "EMULATION", "FAULT", "LOG", "NOX", "ONE", "OPTOOLS", "TEST", "TUNING")
NAMESPACES = frozenset((*(name.split("_")[1] for name in DOCUMENTED), *_INTERNAL))
"""First words of the packages' variables, after the prefix; the packages also have variables that
are not documented, for tests and child processes."""
