"""How far an operator carries the rounding of its arguments into its results.

A result that is exact for arguments off by one rounding is as right as its dtype allows (Higham,
Accuracy and Stability of Numerical Algorithms, 2nd ed., sections 1.5 and 1.6). Where terms cancel
or an exponent is large, that is far more than one rounding of the result. Measured on the float64
reference, it is the magnitude that the rounding bounds are multiplied with.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils._pytree import tree_flatten, tree_map

from .relocate import WIDER, Relocation

STEP = 2.0**-34
"""Relative change of the arguments: far below float32's rounding, far above float64's."""
SMALLER = 16.0
TRIALS = 6
STEADY = 4.0
"""A smooth result changes in proportion to the step. One that does not, within this factor, jumps
(floor at an integer), and then gets no allowance."""


def magnitudes(
    run: Callable[..., Any], original: Any, references: list[Any]
) -> list[torch.Tensor | None]:
    """For each result, the sum of what its arguments contribute, elementwise, at least its modulus.

    :param run: ``run(arguments)`` gives an outcome, ``references`` are the leaves of that for the
        unchanged arguments.
    """
    found: list[torch.Tensor | None] = [
        leaf.detach().abs() if _is_wide(leaf) else None for leaf in references
    ]
    for trial in range(TRIALS):
        slopes = [
            _slopes(run, original, references, step, trial) for step in (STEP, STEP / SMALLER)
        ]
        for at, (large, small) in enumerate(zip(*slopes, strict=True)):
            known = found[at]
            if known is None or large is None or small is None:
                continue
            steady = (large <= STEADY * small) & (small <= STEADY * large) & torch.isfinite(large)
            found[at] = torch.where(steady, torch.maximum(known, large), known)
    return found


def _slopes(
    run: Callable[..., Any], original: Any, references: list[Any], step: float, trial: int
) -> list[torch.Tensor | None]:
    """Change of each result, in units of the relative change of the arguments."""
    relocation = Relocation(dtypes=WIDER)
    arguments = tree_map(
        lambda leaf: leaf * (1 + step) if type(leaf) is float else leaf, relocation(original)
    )
    generator = torch.Generator().manual_seed(trial)
    for flat in relocation.storages():
        if flat.is_floating_point() or flat.is_complex():
            signs = torch.randint(0, 2, flat.shape, generator=generator) * 2 - 1
            flat.mul_(1 + step * signs.to(flat.dtype))
    leaves = tree_flatten(run(arguments).result)[0]
    if len(leaves) != len(references):
        return [None] * len(references)
    return [
        (leaf.detach() - want.detach()).abs() / step
        if _is_wide(want) and _is_wide(leaf) and leaf.shape == want.shape
        else None
        for leaf, want in zip(leaves, references, strict=True)
    ]


def _is_wide(leaf: Any) -> bool:
    return isinstance(leaf, torch.Tensor) and leaf.dtype in (torch.float64, torch.complex128)
