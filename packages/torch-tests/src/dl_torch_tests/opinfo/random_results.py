"""Results that depend on a seed: reproducible, and distributed like the CPU's."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from diopi_proto.tolerance.distribution import FALSE_ALARM
from diopi_proto.tolerance.torch_operators.comparison import same_values

from .relocate import Relocation

SEED = 7
"""Seed of the judged call."""

DRAWS = 40
"""Number of calls whose results are pooled: enough to distinguish standard deviations of 1 and 1.2.
"""
FEW_DRAWS = 10
"""Number of calls if elements share draws; further calls would add little information."""


def compare_random(
    run: Callable[..., Any], original: Any, got: Any, independent: bool
) -> str | None:
    """Return what is wrong with ``got``, the outcome of a random operator on dl, or None.

    :param run: ``run(arguments, seed=...)`` returns an outcome.
    :param independent: every element has a draw of its own; otherwise, only one per row is
        guaranteed.
    """
    device = str(next(t.device for t in got.values() if isinstance(t, torch.Tensor)))
    again = _draw(run, original, device, seed=SEED)
    first = [t.detach().cpu() for t in got.values() if isinstance(t, torch.Tensor)]
    if not _same(first, again):
        return "the same seed gives different numbers in another call"
    draws = DRAWS if independent else FEW_DRAWS
    pooled = {
        where: [_draw(run, original, where, seed=100 + at) for at in range(draws)]
        for where in (device, "cpu")
    }
    if all(_same(pooled[device][0], draw) for draw in pooled[device][1:]):
        return "every seed gives the same numbers"
    for output in range(len(first)):
        left, right = (
            torch.stack([draw[output] for draw in pooled[where]]) for where in (device, "cpu")
        )
        rows = left.shape[1] if left.dim() > 1 else 1
        problem = _distribution_problem(left, right, left.numel() if independent else draws * rows)
        if problem is not None:
            return f"output {output}: {problem}"
    return None


def _draw(run: Callable[..., Any], original: Any, device: str, seed: int) -> list[torch.Tensor]:
    arguments = Relocation(device)(original)
    leaves = run(arguments, seed=seed).values()
    return [leaf.detach().cpu() for leaf in leaves if isinstance(leaf, torch.Tensor)]


def _same(left: list[torch.Tensor], right: list[torch.Tensor]) -> bool:
    return all(same_values(a, b) for a, b in zip(left, right, strict=True))


def _distribution_problem(got: torch.Tensor, cpu: torch.Tensor, draws: int) -> str | None:
    """Run a two-sample Kolmogorov-Smirnov test over all elements of all draws.

    Each empirical distribution function is within Massart's bound of the true one (see
    ``diopi_proto.tolerance.distribution``), so the functions of two samples of one distribution
    differ by at most the sum of their bounds.
    The bound is for ``draws`` independent elements.
    """
    left, right = (np.sort(_reals(each)) for each in (got, cpu))
    if np.isnan(left).any() != np.isnan(right).any():
        return "has nan where the CPU has none, or vice versa"
    if left.size == 0:
        return None
    points = np.concatenate([left, right])
    steps = [np.searchsorted(each, points, side="right") / each.size for each in (left, right)]
    distance = float(np.max(np.abs(steps[0] - steps[1])))
    allowed = 2 * math.sqrt(math.log(2 / FALSE_ALARM) / (2 * draws))
    if distance > allowed:
        return f"distributed unlike the CPU's: distance {distance:.2e}, allowed {allowed:.2e}"
    return None


def _reals(tensor: torch.Tensor) -> np.ndarray[Any, Any]:
    if tensor.is_complex():
        tensor = torch.view_as_real(tensor.to(torch.complex128))
    array: np.ndarray[Any, Any] = tensor.to(torch.float64).numpy().ravel()
    return array
