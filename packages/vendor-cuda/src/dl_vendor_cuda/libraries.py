"""Which of NVIDIA's libraries are here that the vendor uses where they are installed.

The library looks for them itself when it needs one; this is for ``dl doctor``, and opens nothing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from .presence import DRIVER

_CACHE = Path("/etc/ld.so.cache")
_FOLDERS = ("/lib64", "/usr/lib64", "/lib", "/usr/lib", "/usr/local/cuda/lib64")


@dataclass(frozen=True)
class Companion:
    """One library. ``csrc`` has the same."""

    name: str
    variable: str
    """Names another one; ``off`` is none."""
    beside: tuple[str, ...]
    """Where wheels put it, from the folder of packages."""
    wheel: str
    does: str
    with_any_driver: bool = False
    """It knows nothing of the driver."""


COMPANIONS = (
    Companion(
        "NVRTC",
        "DL_CUDA_NVRTC",
        ("nvidia/cu13/lib/libnvrtc.so.13", "nvidia/cuda_nvrtc/lib/libnvrtc.so.12"),
        "nvidia-cuda-nvrtc",
        "compiles kernels from source",
        with_any_driver=True,
    ),
    Companion(
        "cuBLASLt",
        "DL_CUDA_CUBLASLT",
        ("nvidia/cu13/lib/libcublasLt.so.13",),
        "nvidia-cublas",
        "multiplies matrices",
    ),
    Companion(
        "cuDNN",
        "DL_CUDA_CUDNN",
        ("nvidia/cudnn/lib/libcudnn.so.9",),
        "nvidia-cudnn-cu13",
        "convolves",
    ),
    Companion(
        "NCCL",
        "DL_CUDA_NCCL",
        ("nvidia/nccl/lib/libnccl.so.2",),
        "nvidia-nccl-cu13",
        "connects cards",
    ),
    Companion(
        "CUPTI",
        "DL_CUDA_CUPTI",
        ("nvidia/cu13/lib/libcupti.so.13",),
        "nvidia-cuda-cupti",
        "records what runs on a card",
    ),
)


def libraries(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """By name, where each library is, or how to have it."""
    found = {}
    for one in COMPANIONS:
        off = one.name in ("cuBLASLt", "cuDNN") and environ.get("DL_CUDA_LIBRARIES") == "off"
        found[one.name] = "off (DL_CUDA_LIBRARIES)" if off else _state(one, environ)
    return found


def _state(one: Companion, environ: Mapping[str, str]) -> str:
    chosen = environ.get(one.variable)
    if chosen == "off":
        return f"off ({one.variable})"
    if chosen:
        there = Path(chosen).is_absolute() and Path(chosen).is_file()
        return chosen if there else f"no {chosen}"
    if environ.get(DRIVER) and not one.with_any_driver:
        return f"not used with another driver ({DRIVER}), unless {one.variable} names one"
    path = next(_places(one, environ), None)
    return path or f"not installed; `pip install {one.wheel}`: {one.does}"


def _places(one: Companion, environ: Mapping[str, str]) -> Iterator[str]:
    packages = Path(__file__).parents[1]
    yield from (str(packages / path) for path in one.beside if (packages / path).is_file())
    folders = [f for f in environ.get("LD_LIBRARY_PATH", "").split(":") if f]
    for path in one.beside:
        name = Path(path).name
        yield from (f"{folder}/{name}" for folder in folders if Path(folder, name).is_file())
        yield from _cached(name)
        yield from (f"{folder}/{name}" for folder in _FOLDERS if Path(folder, name).is_file())


def _cached(name: str) -> Iterator[str]:
    """The loader's cache holds paths between NULs."""
    try:
        cache = _CACHE.read_bytes()
    except OSError:
        return
    for match in re.finditer(rb"/[^\0]*/" + re.escape(name.encode()) + rb"\0", cache):
        path = os.fsdecode(match[0][:-1])
        if Path(path).is_file():
            yield path
