"""Invalid arguments derived from valid ones: one has another dtype, another value, or is passed as
the result.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import torch
from torch.utils._pytree import tree_flatten, tree_unflatten

from dl_torch_tests.opinfo.relocate import Relocation
from dl_torch_tests.opinfo.sweep import Arguments, Outcome, run, samples_of

SAMPLES = 3
"""Maximum number of samples of each operator."""

DTYPES = (torch.float64, torch.int64, torch.bool, torch.complex64)
NUMBERS: tuple[Any, ...] = (True, -1, 0, 300, math.nan, math.inf, 1e300, 1j)


def mutations(op: Any) -> Iterator[tuple[str, Arguments]]:
    """Yield every way to invalidate one argument of the first samples, with a short description."""
    dtype = next((d for d in (torch.float32, torch.int64, torch.bool) if d in op.dtypes), None)
    if dtype is None:
        return
    for at, original in enumerate(samples_of(op, dtype)[:SAMPLES]):
        leaves, spec = tree_flatten(original)
        for place, leaf in enumerate(leaves):
            for what, value in _others(leaf):
                changed = [*leaves[:place], value, *leaves[place + 1 :]]
                yield f"sample {at}, argument {place}: {what}", tree_unflatten(changed, spec)
        if op.supports_out:
            yield from _outputs(op, at, original)


def _others(leaf: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(leaf, torch.Tensor):
        if leaf.layout is torch.strided:
            for dtype in DTYPES:
                if dtype is not leaf.dtype:
                    yield str(dtype), leaf.detach().to(dtype)
    elif isinstance(leaf, (bool, int, float, complex)):
        for number in NUMBERS:
            if type(number) is not type(leaf) or number != leaf:
                yield repr(number), number


def _outputs(op: Any, at: int, original: Arguments) -> Iterator[tuple[str, Arguments]]:
    expected = run(lambda a: op(a[0], *a[1], **a[2]), Relocation()(original))
    results, spec = tree_flatten(expected.result)
    if expected.error is not None or not all(isinstance(r, torch.Tensor) for r in results):
        return
    for place, result in enumerate(results):
        for dtype in DTYPES:
            if dtype is result.dtype or result.layout is not torch.strided:
                continue
            given = [torch.zeros_like(r) for r in results]
            given[place] = torch.zeros(result.shape, dtype=dtype)
            first, args, kwargs = original
            out = tree_unflatten(given, spec)
            yield f"sample {at}, out {place}: {dtype}", (first, args, {**kwargs, "out": out})


def call(op: Any, arguments: Arguments, device: str) -> Outcome:
    def apply(moved: Arguments) -> Any:
        first, args, kwargs = moved
        try:
            result = op(first, *args, **kwargs)
        except Exception:
            if device == "dl":
                _forget_errors()
            raise
        if device == "dl":
            # Errors that a device finds in its data are raised when it is synchronized.
            torch.dl.synchronize()
        return result

    return run(apply, Relocation(device)(arguments))


def _forget_errors() -> None:
    """Drop errors that the device found before the call was rejected."""
    with suppress(RuntimeError, IndexError):
        torch.dl.synchronize()
