"""Default search space of a matrix product."""

from __future__ import annotations

from dl_autotune import SearchSpace, SpaceError
from dl_autotune.spaces.deepgen import gemm_space

from .dialects import Dialect
from .gemm import Problem

_SIZES = [16, 32, 64, 128, 256]
_GPU_SIZES = [16, 32, 64, 128]
_ONE = (
    *("GLOB_LOAD_WIDTH_A", "GLOB_LOAD_WIDTH_B", "BLOCK_SCATTER_WIDTH_M", "BLOCK_SCATTER_WIDTH_N"),
    *("WARP_SCATTER_WIDTH_M", "WARP_SCATTER_WIDTH_N", "LOCAL_SPLIT_U"),
)
_NONE = (
    *("GLOB_STORE_WIDTH", "REG_PREFETCH"),
    *("LOAD_CONTINUOUS", "STORE_CONTINUOUS"),
)


def default_space(problem: Problem, dialect: Dialect) -> SearchSpace | None:
    """Return configurations of the parameters that matter on a device; None if none fits."""
    gpu = dialect.on_gpu
    sizes = _GPU_SIZES if gpu else _SIZES
    values = {
        "BATCH_SIZE": [problem.batch],
        "M_SIZE": [problem.m],
        "N_SIZE": [problem.n],
        "K_SIZE": [problem.k],
        "BLOCK_SIZE_M": sizes,
        "BLOCK_SIZE_N": sizes,
        "BLOCK_SIZE_K": [8, 16, 32, 64],
        "THREAD_SIZE_M": [2, 4, 8],
        "THREAD_SIZE_N": [2, 4, 8] if gpu else [8, 16, 32],
        "WARP_SIZE": list(dialect.warps),
        "WARP_LAYOUT_Y": [1, 2, 4, 8],
        "WARP_LAYOUT_X": [1, 2, 4, 8],
        "BLOCK_LAYOUT_Y": [1, 2, 4, 8, 16],
        "BLOCK_LAYOUT_X": [1, 2, 4, 8, 16],
        "BLOCK_MAPPING": [0, 4],
        "SHARED_PREFETCH": [0, 1] if gpu else [0],
        "IS_ATRANS": [0, 1],
        "UNROLL_NUM": [1, 4, 8],
        **{f"DATATYPE_{matrix}": [4] for matrix in "ABC"},
        **{key: [1] for key in _ONE},
        **{key: [0] for key in _NONE},
    }
    try:
        return gemm_space(values)
    except SpaceError:
        # No block size divides the problem: torch.matmul computes it.
        return None
