"""Conditioning: how an operator amplifies rounding errors of its arguments.

A result that is exact for arguments with one rounding error each is as accurate as its dtype allows
(Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., sections 1.5 and 1.6). If terms
cancel or an exponent is large, its error is much more than one rounding of the result. The effect
is measured on the float64 reference, and the resulting magnitude scales the rounding bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map

STEP = 2.0**-34
"""Relative change of an argument: much larger than float64's rounding error, and much smaller than
float32's."""
SMALLER = 16.0
TRIALS = 3
STEADY = 4.0
"""A smooth result changes in proportion to the step. A result that does not do so, within this
factor, is discontinuous (floor at an integer) and gets no allowance."""

SINGLE = {torch.float16: torch.float32, torch.bfloat16: torch.float32}

NUMBERS = -1
"""Key of the Python numbers among the arguments; the other keys are memory addresses."""

Slopes = list[torch.Tensor | None]
Run = Callable[[Any], Sequence[Any]]
Copy = Callable[[], tuple[Any, list[torch.Tensor]]]


def magnitudes(run: Run, copy: Copy, references: Sequence[Any], trials: int = TRIALS) -> Slopes:
    """Return the magnitude of each element of each result: the sum of the arguments' contributions
    to the element, but at least its absolute value.

    Arguments are changed one at a time, so that an argument for which the results are discontinuous
    does not exclude other arguments.

    :param run: ``run(arguments)`` returns the results; it may write to the arguments.
    :param copy: returns a new float64 copy of the arguments, and all of its memory as flat tensors.
    :param references: the results for the unchanged arguments.
    :param trials: number of random changes; more trials never decrease the magnitudes.
    """
    total: Slopes = [torch.zeros_like(_modulus(x)) if _is_wide(x) else None for x in references]
    for argument in [NUMBERS, *range(len(copy()[1]))]:
        for at, slope in enumerate(_steady_slopes(run, copy, references, argument, trials)):
            known = total[at]
            if slope is not None and known is not None:
                total[at] = known + slope
    return [
        torch.maximum(each, _modulus(want)) if each is not None else None
        for each, want in zip(total, references, strict=True)
    ]


def linear_magnitudes(run: Run, arguments: Any) -> Slopes:
    """Return the magnitudes of sums that are linear in each argument, by applying the operator to
    absolute values.

    :param arguments: arguments of any dtype; 16-bit ones are widened. They are not modified.
    """

    def positive(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            if not (value.is_floating_point() or value.is_complex()):
                return value.clone()
            return value.detach().abs().to(SINGLE.get(value.dtype))
        if isinstance(value, torch.dtype):
            return SINGLE.get(value, value)
        return abs(value) if type(value) is float else value

    return [
        _modulus(x) if isinstance(x, torch.Tensor) else None
        for x in run(tree_map(positive, arguments))
    ]


def _steady_slopes(
    run: Run, copy: Copy, references: Sequence[Any], argument: int, trials: int
) -> Slopes:
    """Return the largest slope of all trials where it does not depend on the step, otherwise 0."""
    largest: Slopes = [None] * len(references)
    for trial in range(trials):
        steps = (STEP, STEP / SMALLER)
        pairs = [_slopes(run, copy, references, argument, step, trial) for step in steps]
        for at, (large, small) in enumerate(zip(*pairs, strict=True)):
            if large is None or small is None:
                continue
            steady = (large <= STEADY * small) & (small <= STEADY * large) & torch.isfinite(large)
            found = torch.where(steady, large, 0)
            known = largest[at]
            largest[at] = found if known is None else torch.maximum(known, found)
    return largest


def _slopes(
    run: Run, copy: Copy, references: Sequence[Any], argument: int, step: float, trial: int
) -> Slopes:
    """Return the change of each result in units of the relative change of one argument."""
    arguments, memory = copy()
    if argument == NUMBERS:
        if not any(type(leaf) is float for leaf in tree_leaves(arguments)):
            return [None] * len(references)
        arguments = tree_map(lambda x: x * (1 + step) if type(x) is float else x, arguments)
    else:
        flat = memory[argument]
        if not (flat.is_floating_point() or flat.is_complex()):
            return [None] * len(references)
        generator = torch.Generator().manual_seed(trial)
        signs = torch.randint(0, 2, flat.shape, generator=generator) * 2 - 1
        with torch.no_grad():
            flat.mul_(1 + step * signs.to(flat.dtype))
    leaves = run(arguments)
    if len(leaves) != len(references):
        return [None] * len(references)
    return [
        _modulus(leaf - want) / step
        if _is_wide(want) and _is_wide(leaf) and leaf.shape == want.shape
        else None
        for leaf, want in zip(leaves, references, strict=True)
    ]


def _modulus(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().abs()


def _is_wide(leaf: Any) -> bool:
    return isinstance(leaf, torch.Tensor) and leaf.dtype in (torch.float64, torch.complex128)
