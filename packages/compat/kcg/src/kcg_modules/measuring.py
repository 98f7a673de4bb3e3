"""Worker process: checks a kernel, then times it against ``torch.matmul``."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from diopi_proto.tolerance import OpClass, compare, matmul_magnitude
from dl_autotune import TuningError
from dl_autotune.observers import Race, RaceSettings, race

from .gemm import Gemm, Problem, uses_tensor_cores

_GUARD = 4096
"""Number of guard elements around the output, which kernels must not write."""
_READ_BITS = 0xFFFFE000
"""Bits of a float32 that tensor cores read."""
_SHORTEST = 2e-4
"""Time in seconds below which several calls are timed together."""


@dataclass(frozen=True)
class Measure:
    """Request for the :class:`Race` of a kernel against ``torch.matmul`` on the device."""

    config: dict[str, Any]
    code: bytes = field(repr=False)
    device: int
    settings: RaceSettings
    seed: int
    precision: str = field(default_factory=torch.get_float32_matmul_precision)
    """torch's precision of products of float32, for both sides."""


def serve() -> Callable[[Measure], Race]:
    """Return the handler of requests."""

    def handle(request: Measure) -> Race:
        torch.set_float32_matmul_precision(request.precision)
        gemm = Gemm(request.config, request.device, request.code)
        problem, rng = gemm.problem, np.random.default_rng(request.seed)
        shape = (problem.batch, problem.m, problem.k)
        a = operand(rng, shape)
        b = operand(rng, (problem.batch, problem.k, problem.n))
        device = f"dl:{request.device}"
        given = torch.from_numpy(a).to(device), torch.from_numpy(b).to(device)
        judge(gemm, a, b, given)
        baseline = timed(lambda: torch.matmul(*given))
        found = race(baseline, timed(lambda: gemm(*given)), request.settings, seed=request.seed)
        judge(gemm, a, b, given)
        return found

    return handle


def operand(
    rng: np.random.Generator, shape: tuple[int, ...]
) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Return a random matrix. Where products may use tensor cores, its elements have at most the 10
    bits of mantissa that these read, so that products are exact and sums are as of float32.
    """
    drawn = rng.standard_normal(shape, dtype=np.float32)
    if not uses_tensor_cores():
        return drawn
    return (drawn.view(np.uint32) & np.uint32(_READ_BITS)).view(np.float32)


def judge(
    gemm: Callable[..., Any],
    a: np.ndarray[Any, np.dtype[np.float32]],
    b: np.ndarray[Any, np.dtype[np.float32]],
    given: tuple[torch.Tensor, torch.Tensor],
) -> None:
    """Check that a product agrees with float64 up to rounding, and that other memory is unchanged.

    :raises TuningError: the product is wrong, or other memory has changed.
    """
    batch, m, n = a.shape[0], a.shape[1], b.shape[2]
    around = torch.full((batch * m * n + 2 * _GUARD,), float("nan"), device=given[0].device)
    gemm(*given, out=around[_GUARD:-_GUARD].view(batch, m, n))
    found = around.cpu()
    inside = found[_GUARD:-_GUARD].view(batch, m, n).numpy()
    outcome = compare(
        inside,
        a.astype(np.float64) @ b.astype(np.float64),
        dtype="float32",
        op_class=OpClass.MATMUL,
        reduction_length=a.shape[2],
        magnitude=matmul_magnitude(a, b),
    )
    if not outcome.ok:
        raise TuningError(outcome.report("the product is wrong"))
    if not (found[:_GUARD].isnan().all() and found[-_GUARD:].isnan().all()):
        raise TuningError("it writes outside the product")
    for name, before, now in zip("AB", (a, b), given, strict=True):
        if before.tobytes() != now.cpu().numpy().tobytes():
            raise TuningError(f"it changes its input {name}")


def timed(compute: Callable[[], object]) -> Callable[[], float]:
    """Return a function that runs the computation and returns the time of one run in seconds."""

    def once(times: int = 1) -> float:
        torch.dl.synchronize()  # type: ignore[attr-defined]
        start = time.perf_counter()
        for _ in range(times):
            compute()
        torch.dl.synchronize()  # type: ignore[attr-defined]
        return (time.perf_counter() - start) / times

    once()
    times = max(1, round(_SHORTEST / max(once(), 1e-7)))
    return lambda: once(times)


def teraflops(problem: Problem, seconds: float) -> float:
    """Return the rate of a product in 1e12 operations per second."""
    return problem.operations / seconds / 1e12
