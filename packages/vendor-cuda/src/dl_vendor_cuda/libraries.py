"""NVIDIA's optional libraries: where each is installed, or how to install it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from diopi_proto.companions import Companion, Finder

from .presence import DRIVER

FINDER = Finder(
    packages=Path(__file__).parents[1],
    driver=DRIVER,
    switch="DL_CUDA_LIBRARIES",
    folders=("/usr/local/cuda/lib64",),
)
COMPANIONS = (
    Companion(
        "NVRTC",
        "DL_CUDA_NVRTC",
        ("nvidia/cu13/lib/libnvrtc.so.13", "nvidia/cuda_nvrtc/lib/libnvrtc.so.12"),
        "`pip install nvidia-cuda-nvrtc`",
        "compiles kernels from source",
        with_any_driver=True,
    ),
    Companion(
        "cuBLASLt",
        "DL_CUDA_CUBLASLT",
        ("nvidia/cu13/lib/libcublasLt.so.13",),
        "`pip install nvidia-cublas`",
        "multiplies matrices",
        computes=True,
    ),
    Companion(
        "cuDNN",
        "DL_CUDA_CUDNN",
        ("nvidia/cudnn/lib/libcudnn.so.9",),
        "`pip install nvidia-cudnn-cu13`",
        "convolves",
        computes=True,
    ),
    Companion(
        "NCCL",
        "DL_CUDA_NCCL",
        ("nvidia/nccl/lib/libnccl.so.2",),
        "`pip install nvidia-nccl-cu13`",
        "connects GPUs",
    ),
    Companion(
        "CUPTI",
        "DL_CUDA_CUPTI",
        ("nvidia/cu13/lib/libcupti.so.13",),
        "`pip install nvidia-cuda-cupti`",
        "records device activity",
    ),
)


def libraries(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the location of each library by name, or how to install it."""
    return FINDER.states(COMPANIONS, environ)
