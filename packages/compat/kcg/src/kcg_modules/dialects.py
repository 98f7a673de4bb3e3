"""The languages in which devices compile the kernel, and the parameters that matter in each."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from .names import Config

_HERE = Path(__file__).parent
_PROBLEM = ("M_SIZE", "N_SIZE", "K_SIZE")
_EVERYWHERE = (
    *_PROBLEM,
    *("BLOCK_SIZE_M", "BLOCK_SIZE_N", "BLOCK_SIZE_K", "THREAD_SIZE_M", "THREAD_SIZE_N"),
    *("BLOCK_LAYOUT_Y", "BLOCK_LAYOUT_X", "WARP_LAYOUT_Y", "WARP_LAYOUT_X"),
    *("LOCAL_SPLIT_U", "BLOCK_MAPPING", "UNROLL_NUM", "IS_ATRANS"),
)
_ON_GPUS = (*_EVERYWHERE, "GLOB_LOAD_WIDTH_A", "GLOB_LOAD_WIDTH_B", "SHARED_PREFETCH")


@dataclass(frozen=True)
class Dialect:
    """A language of the kernel.

    :ivar language: its name in the kernel extension.
    :ivar source: the file with the kernel.
    :ivar used: parameters that matter for the code; all others are ignored.
    :ivar on_gpu: True if a block of the grid has the configuration's threads; False for one thread
        that computes the whole block.
    :ivar warps: sizes of a warp in the default search space.
    """

    language: str
    source: Path
    used: tuple[str, ...]
    on_gpu: bool
    warps: tuple[int, ...]

    def threads(self, config: Config) -> int:
        """Return the number of threads of a block."""
        if not self.on_gpu:
            return 1
        layouts = ("BLOCK_LAYOUT_Y", "BLOCK_LAYOUT_X", "WARP_LAYOUT_Y", "WARP_LAYOUT_X")
        count = int(config["LOCAL_SPLIT_U"])
        for key in layouts:
            count *= int(config[key])
        return count

    def supports_tensor_cores(self, config: Config) -> bool:
        """Return True if warps compute whole fragments of 16 x 8 x 8 elements of NVIDIA GPUs."""
        return (
            self.language == "cuda"
            and config["WARP_LAYOUT_Y"] * config["WARP_LAYOUT_X"] == 32
            and config["WARP_LAYOUT_Y"] * config["THREAD_SIZE_M"] % 16 == 0
            and config["WARP_LAYOUT_X"] * config["THREAD_SIZE_N"] % 8 == 0
            and config["BLOCK_SIZE_K"] % 8 == 0
            and config["LOCAL_SPLIT_U"] == 1
        )

    def options(self, config: Config, *, tensor_cores: bool) -> list[str]:
        """Return the compiler options of a configuration.

        :param tensor_cores: products may use the shorter mantissas of tensor cores.
        """
        options = [f"-D{name}={int(config[name])}" for name in self.used]
        if self.on_gpu:
            wanted = tensor_cores and self.supports_tensor_cores(config)
            options.append(f"-DTENSOR_CORES={int(wanted)}")
        return options


_CPU = Dialect("c++", _HERE / "gemm.cpp", _EVERYWHERE, on_gpu=False, warps=(1, 2, 4, 8))
_GPU = _HERE / "gemm_gpu.cpp"
DIALECTS = {
    each.language: each
    for each in (
        _CPU,
        Dialect("cuda", _GPU, _ON_GPUS, on_gpu=True, warps=(32,)),
        Dialect("hip", _GPU, _ON_GPUS, on_gpu=True, warps=(64, 32)),
        Dialect("opencl", _GPU, _ON_GPUS, on_gpu=True, warps=(32, 16)),
    )
}
"""Dialects by language."""
