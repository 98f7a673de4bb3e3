"""Matrix products by kernels of configurations, on dl tensors."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import torch

import dl_core
from dl_autotune.toolchains import CompileError
from dl_core import _C
from dl_core.errors import ActivationError

from .dialects import DIALECTS, Dialect
from .errors import KcgError
from .names import Config, name_of

COMPILE_SECONDS = 120.0
_PRECISE = "highest"
"""Value of ``torch.set_float32_matmul_precision`` that forbids tensor cores for float32."""


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


@lru_cache
def dialect(device: int) -> Dialect:
    """Return the language in which a dl device compiles kernels.

    :raises KcgError: the device does not exist, or compiles no language of the kernel.
    """
    try:
        dl_core.init()
    except ActivationError as error:
        raise KcgError(f"[kcg] kernels run on the dl device, and there is none. {error}") from error
    count = torch.dl.device_count()  # type: ignore[attr-defined]
    if isinstance(device, bool) or not isinstance(device, int) or not 0 <= device < count:
        raise KcgError(f"[kcg] device {device!r} does not exist; the number is {count}")
    languages, unavailable = _C.kernel_languages(device)
    if unavailable:
        raise KcgError(f"[kcg] device dl:{device} cannot run kernels: {unavailable}")
    found = next((DIALECTS[each] for each in languages.split(",") if each in DIALECTS), None)
    if found is None:
        raise KcgError(
            f"[kcg] device dl:{device} compiles kernels in {languages}, but the matrix product is"
            f" written in {', '.join(DIALECTS)}: use a device of another vendor (DL_VENDORS)"
        )
    return found


def describe(device: int) -> str:
    """Return the name of a device and its vendor, which tell a simulated device from a real one."""
    properties = torch.dl.get_device_properties(device)  # type: ignore[attr-defined]
    return f"dl:{device} ({properties.name}, vendor {properties.vendor})"


def uses_tensor_cores() -> bool:
    """Return True if torch allows products of float32 the shorter mantissas of tensor cores."""
    return torch.get_float32_matmul_precision() != _PRECISE


def code_key(config: Config, device: int) -> tuple[int, ...]:
    """Return a key that is equal for configurations with the same code on a device."""
    language = dialect(device)
    batch = Problem.of(config).batch
    return (batch, uses_tensor_cores(), *(int(config[key]) for key in language.used))


def compiled(config: Config, device: int) -> bytes:
    """Return the compiled code of a configuration, which the vendor caches.

    :raises CompileError: it does not compile.
    """
    language = dialect(device)
    text = language.source.read_text(encoding="utf-8")
    options = language.options(config, tensor_cores=uses_tensor_cores())
    try:
        return _C.compile_kernels(
            device, language.language, language.source.name, text, options, COMPILE_SECONDS
        )
    except RuntimeError as error:
        raise CompileError(str(error)) from error


class Gemm:
    """Kernel of a configuration.

    :ivar problem: the only problem that it computes.
    :ivar name: the configuration as a name.
    :ivar on_tensor_cores: True if its products have the shorter mantissas of tensor cores.
    """

    def __init__(self, config: Config, device: int, code: bytes | None = None) -> None:
        """
        Load the kernel, compiled if necessary.

        :raises KcgError: it does not compile, or the device cannot run such kernels.
        """
        self.config, self.device = dict(config), device
        self.problem, self.name = Problem.of(config), name_of(config)
        language = dialect(device)
        self.on_tensor_cores = uses_tensor_cores() and language.supports_tensor_cores(config)
        if code is None:
            try:
                code = compiled(config, device)
            except CompileError as error:
                raise KcgError(f"[kcg] {self.name} does not compile: {error}") from error
        problem = self.problem
        blocks = problem.m // config["BLOCK_SIZE_M"] * (problem.n // config["BLOCK_SIZE_N"])
        launch = ("gemm", blocks * problem.batch, language.threads(config), [0, 1, 2])
        try:
            self._program = _C.KernelProgram(device, code, [launch], 3)
        except RuntimeError as error:
            raise KcgError(f"[kcg] {self.name} cannot be loaded: {error}") from error

    def __call__(
        self, a: torch.Tensor, b: torch.Tensor, out: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Return the product of two tensors that have this kernel's :class:`Problem`.

        The kernel is enqueued on the current stream.

        :param out: contiguous tensor for the result, with the product's shape.
        """
        a, b = a.detach().contiguous(), b.detach().contiguous()
        if out is None:
            out = torch.empty((*a.shape[:-1], b.shape[-1]), dtype=a.dtype, device=a.device)
        self._program.run([tensor.data_ptr() for tensor in (a, b, out)])
        return out
