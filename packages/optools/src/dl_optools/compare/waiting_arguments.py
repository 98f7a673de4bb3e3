"""Copies of function arguments on the CPU that wait for the backward pass."""

from __future__ import annotations

import threading
from typing import Any

import torch

from dl_optools.backward_graph import Gradients
from dl_optools.compare.host_copies import CallRecord
from dl_optools.tensors import tensors_of


class Allowance:
    """Limit on the bytes held at a time."""

    def __init__(self, limit: int) -> None:
        self._left = limit
        self._lock = threading.Lock()

    def take(self, size: int) -> bool:
        with self._lock:
            if size > self._left:
                return False
            self._left -= size
            return True

    def give(self, size: int) -> None:
        with self._lock:
            self._left += size


class WaitingArguments:
    """Arguments of a function whose backward has not run; freed with autograd's graph."""

    def __init__(self, tree: Any) -> None:
        self.tree = tree
        self.written: list[int] = []
        self.autocast: torch.dtype | None = None
        self.record: CallRecord | None = None

    def size_with(self, gradients: Gradients) -> int:
        tensors = tensors_of(self.tree, gradients.inputs, gradients.outputs)
        return 1024 + sum(x.numel() * x.itemsize for x in tensors)
