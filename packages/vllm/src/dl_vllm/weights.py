"""Weights that do not change while a model serves, so that the vendor may prepack them."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from dl_core.torch_backend.constants import extension


class ConstantWeights:
    """Matrices of a model, which are declared as constants on their first use.

    A vendor without the extension for constants reads the weights as they are.
    """

    def __init__(self, model: torch.nn.Module, device: torch.device) -> None:
        """Find the model's matrices on ``device``."""
        self._found = extension(device.index or 0)
        self._ranges = {
            (weight.data_ptr(), weight.numel() * weight.element_size())
            for weight in model.parameters()
            if weight.device.type == device.type and weight.dim() == 2 and weight.is_contiguous()
        }
        self._declared: set[tuple[int, int]] = set()
        if self._found is not None:
            # The memory is freed with the model.
            finalizer = weakref.finalize(model, _forget, *self._found, self._declared)
            finalizer.atexit = False

    @contextmanager
    def used(self) -> Iterator[None]:
        """Context manager in which products of this thread read the vendor's prepacked weights."""
        if self._found is None:
            yield
            return
        vendor, device = self._found
        for memory, size in self._ranges - self._declared:
            vendor.declare(memory, size, device)
            self._declared.add((memory, size))
        vendor.use(True, device)
        try:
            yield
        finally:
            vendor.use(False, device)

    def forget(self) -> None:
        """Withdraw the declarations, because the weights were written to."""
        if self._found is not None:
            _forget(*self._found, self._declared)


def _forget(vendor: Any, device: int, declared: set[tuple[int, int]]) -> None:
    while declared:
        vendor.forget(*declared.pop(), device)
