"""Measurements for `gpu.py`: times by device events, and the bytes and operations of a call."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable
from typing import Any

import torch
from _kernel_inputs import Call
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten
from torch.utils.flop_counter import FlopCounterMode

BURST_MILLISECONDS = 2.0
"""Minimum milliseconds of a burst, so that the resolution of the device's clock does not matter."""
LONGEST_BURST = 1000
COPIED_BYTES = 1 << 28
"""Bytes of a copy that exceeds any cache."""
PRODUCTS = (1024, 2048, 4096)
"""Sizes of the square products whose best rate is the compute roof."""


def milliseconds(call: Call, times: int, device: str) -> float:
    """Return the time of one call by device events; it includes gaps that the host causes."""
    module: Any = getattr(torch, device)
    start, end = (module.Event(enable_timing=True) for _ in range(2))
    start.record()
    for _ in range(times):
        call()
    end.record()
    end.synchronize()
    return float(start.elapsed_time(end)) / times


def burst_length(call: Call, device: str) -> int:
    """Return how often to repeat the call in a burst; the first calls warm up."""
    milliseconds(call, 2, device)
    once = max(milliseconds(call, 3, device), 1e-4)
    return max(1, min(LONGEST_BURST, math.ceil(BURST_MILLISECONDS / once)))


def median(call: Call, device: str, repeats: int) -> float:
    """Return the median of `repeats` bursts, in milliseconds."""
    times = burst_length(call, device)
    return statistics.median(milliseconds(call, times, device) for _ in range(repeats))


class Traffic(TorchDispatchMode):
    """Counts the bytes that a call must read and write: its inputs and outputs. Intermediate
    results could stay on the chip.
    """

    def __init__(self) -> None:
        super().__init__()
        self._given: dict[int, torch.Tensor] = {}
        self._made: dict[int, torch.Tensor] = {}

    def __torch_dispatch__(
        self, op: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        for tensor in _tensors((args, kwargs)):
            if tensor.data_ptr() not in self._made:
                self._given.setdefault(tensor.data_ptr(), tensor)
        result = op(*args, **(kwargs or {}))
        for tensor in _tensors(result):
            # Kept alive, so that no other tensor gets its address during the count.
            self._made[tensor.data_ptr()] = tensor
        return result

    def bytes_of(self, result: Any) -> int:
        """Return the bytes that the call with this result reads and writes."""
        left = {tensor.data_ptr(): tensor for tensor in _tensors(result)}
        return sum(map(_bytes, (*self._given.values(), *left.values())))


def _tensors(tree: Any) -> Iterable[torch.Tensor]:
    return (leaf for leaf in tree_flatten(tree)[0] if isinstance(leaf, torch.Tensor))


def _bytes(tensor: torch.Tensor) -> int:
    if tensor.layout != torch.strided:
        return 0
    # An expanded tensor has fewer elements in memory than in its shape.
    elements = math.prod(n for n, step in zip(tensor.shape, tensor.stride(), strict=True) if step)
    return elements * tensor.element_size()


def work_of(call: Call) -> tuple[int, int]:
    """Return bytes and floating-point operations of a call; torch counts the latter, for products,
    convolutions and attention.
    """
    with FlopCounterMode(display=False) as flops, Traffic() as traffic:
        result = call()
    return traffic.bytes_of(result), int(flops.get_total_flops())


class Roof:
    """Limits of the device, measured in this run: the rate of a large copy, and for each dtype
    the rate of the best square product, which is a limit only if the products are fast.
    """

    def __init__(self, device: str, repeats: int, copied_bytes: int, sides: Iterable[int]) -> None:
        self._device, self._repeats, self._sides = device, repeats, tuple(sides)
        source = torch.zeros(copied_bytes, dtype=torch.uint8, device=device)
        target = torch.empty_like(source)
        self.bytes_per_ms = 2 * copied_bytes / self._time(lambda: target.copy_(source))
        self._flops_per_ms: dict[torch.dtype, float] = {}

    def _time(self, call: Call) -> float:
        return max(median(call, self._device, self._repeats), 1e-6)

    def flops_per_ms(self, dtype: torch.dtype) -> float:
        if dtype not in self._flops_per_ms:
            self._flops_per_ms[dtype] = max(map(self._product_rate(dtype), self._sides))
        return self._flops_per_ms[dtype]

    def _product_rate(self, dtype: torch.dtype) -> Any:
        def rate(side: int) -> float:
            a = torch.ones(side, side, dtype=dtype, device=self._device)
            return 2 * side**3 / self._time(lambda: a @ a)

        return rate

    def milliseconds(self, call: Call, dtype: torch.dtype) -> float:
        """Return the minimum time of the call by these limits."""
        moved, flops = work_of(call)
        arithmetic = flops / self.flops_per_ms(dtype) if flops else 0.0
        return max(moved / self.bytes_per_ms, arithmetic)
