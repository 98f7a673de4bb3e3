"""Matrix products by kernels of configurations, on dl tensors."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

from dl_autotune import Launch, TuningError
from dl_autotune.toolchains import CompileError
from dl_autotune.toolchains.kernel_extension import KernelExtension

from .errors import KcgError
from .names import Config, name_of

COMPILE_SECONDS = 120.0
_SOURCE = Path(__file__).with_name("gemm.cpp")
_USED = (
    *("BLOCK_SIZE_M", "BLOCK_SIZE_N", "BLOCK_SIZE_K", "THREAD_SIZE_M", "THREAD_SIZE_N"),
    *("BLOCK_LAYOUT_Y", "BLOCK_LAYOUT_X", "WARP_LAYOUT_Y", "WARP_LAYOUT_X"),
    *("LOCAL_SPLIT_U", "BLOCK_MAPPING", "UNROLL_NUM", "IS_ATRANS"),
)
"""Parameters that matter for a CPU kernel; all others concern loads and stores of GPUs."""


@dataclass(frozen=True)
class Problem:
    """Problem: ``batch`` products of m x k by k x n matrices."""

    batch: int
    m: int
    n: int
    k: int

    @classmethod
    def of(cls, config: Config) -> Problem:
        """Return the problem of a configuration."""
        return cls(config["BATCH_SIZE"], config["M_SIZE"], config["N_SIZE"], config["K_SIZE"])

    @classmethod
    def between(cls, a: torch.Tensor, b: torch.Tensor) -> Problem | None:
        """Return the problem of ``torch.matmul`` of two tensors; None if kernels do not support it.

        If `b` has two dimensions, all rows of `a` form one matrix.
        """
        if a.dim() < 2 or b.dim() < 2 or a.shape[-1] != b.shape[-2]:
            return None
        if a.dtype != torch.float32 or b.dtype != torch.float32 or a.device != b.device:
            return None
        k, n = int(b.shape[-2]), int(b.shape[-1])
        if b.dim() == 2:
            return cls(1, math.prod(a.shape[:-1]), n, k)
        if a.shape[:-2] != b.shape[:-2]:
            return None
        return cls(math.prod(a.shape[:-2]), int(a.shape[-2]), n, k)

    def __str__(self) -> str:
        batch = f"{self.batch} x " if self.batch > 1 else ""
        return f"{batch}({self.m} x {self.k}) ({self.k} x {self.n})"

    @property
    def operations(self) -> int:
        """Return the number of multiplications and additions."""
        return 2 * self.batch * self.m * self.n * self.k


def code_key(config: Config) -> tuple[int, ...]:
    """Return a key that is equal for configurations with the same code and problem."""
    problem = Problem.of(config)
    return (problem.batch, problem.m, problem.n, problem.k, *(int(config[k]) for k in _USED))


@lru_cache
def toolchain(device: int) -> KernelExtension:
    """Return the toolchain that compiles and launches on a dl device.

    :raises KcgError: the device does not exist, or does not support kernels in C++.
    """
    count = torch.dl.device_count()  # type: ignore[attr-defined]
    if isinstance(device, bool) or not isinstance(device, int) or not 0 <= device < count:
        raise KcgError(f"[kcg] device {device!r} does not exist; the number is {count}")
    properties = torch.dl.get_device_properties(device)  # type: ignore[attr-defined]
    try:
        found = KernelExtension(properties.vendor, properties.vendor_device)
    except TuningError as error:
        raise KcgError(f"[kcg] device dl:{device} cannot run kernels: {error}") from error
    if properties.vendor != "cpu":
        raise KcgError(
            f"[kcg] device dl:{device} is of vendor {properties.vendor}, but the kernels are C++:"
            " use a device of vendor cpu (DL_VENDORS=cpu)"
        )
    return found


def compiled(config: Config, device: int) -> bytes:
    """Return the compiled code of a configuration, which the vendor caches.

    :raises CompileError: it does not compile.
    """
    source = _SOURCE.read_text(encoding="utf-8")
    options = [f"-D{name}={int(config[name])}" for name in _USED]
    return toolchain(device).compile(source, "gemm.cpp", options, COMPILE_SECONDS)


class Gemm:
    """Kernel of a configuration.

    :ivar problem: the only problem that it computes.
    :ivar name: the configuration as a name.
    """

    def __init__(self, config: Config, device: int, code: bytes | None = None) -> None:
        """
        Load the kernel, compiled if necessary.

        :raises KcgError: it does not compile, or the device cannot run such kernels.
        """
        self.config, self.device = dict(config), device
        self.problem, self.name = Problem.of(config), name_of(config)
        if code is None:
            try:
                code = compiled(config, device)
            except CompileError as error:
                raise KcgError(f"[kcg] {self.name} does not compile: {error}") from error
        self._launch: Callable[..., None] = toolchain(device).load(code, "gemm")
        problem = self.problem
        blocks = problem.m // config["BLOCK_SIZE_M"] * (problem.n // config["BLOCK_SIZE_N"])
        self._how = Launch((blocks, problem.batch))
        self._sizes = [np.int64(size) for size in (problem.m, problem.n, problem.k)]

    def __call__(
        self, a: torch.Tensor, b: torch.Tensor, out: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Return the product of two tensors that have this kernel's :class:`Problem`.

        :param out: contiguous tensor for the result, with the product's shape.
        """
        a, b = a.detach().contiguous(), b.detach().contiguous()
        if out is None:
            out = torch.empty((*a.shape[:-1], b.shape[-1]), dtype=a.dtype, device=a.device)
        # The kernel runs in the vendor's queue: wait for the work in torch's stream.
        torch.dl.synchronize(self.device)  # type: ignore[attr-defined]
        addresses: list[Any] = [np.int64(tensor.data_ptr()) for tensor in (a, b, out)]
        self._launch(self._how, [*addresses, *self._sizes])
        return out
