"""Copies of an operator's arguments with the layout of the sample, in new memory for each run."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._pytree import tree_flatten, tree_map


class Copies:
    """One consistent copy of a tree of arguments. Storages are copied instead of tensors, so that
    strides, offsets and memory sharing are preserved.

    :param rolled: whether to rotate each storage's floating-point numbers by one element, which
        reveals values of an earlier run that a program has kept.
    """

    def __init__(self, device: str, *, rolled: bool = False) -> None:
        self._device = torch.device(device)
        self._rolled = rolled
        self._storages: dict[tuple[int, torch.dtype], torch.Tensor] = {}

    def __call__(self, tree: Any) -> Any:
        """Copy a tree with all of its tensors, and replace devices among the arguments."""
        return tree_map(self._leaf, tree)

    def _leaf(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            dense = value.layout == torch.strided
            plain = value.detach()
            copied = self._strided(plain) if dense else plain.to(self._device, copy=True)
            return copied.requires_grad_() if value.requires_grad else copied
        if value == "cpu" or (isinstance(value, torch.device) and value.type == "cpu"):
            return self._device
        return value

    def _strided(self, tensor: torch.Tensor) -> torch.Tensor:
        conjugate, negative = tensor.is_conj(), tensor.is_neg()
        tensor = tensor.conj() if conjugate else tensor
        tensor = torch._neg_view(tensor) if negative else tensor
        copied = torch.empty(0, dtype=tensor.dtype, device=self._device).set_(
            self._storage(tensor).untyped_storage(),
            tensor.storage_offset(),
            tensor.size(),
            tensor.stride(),
        )
        copied = torch._neg_view(copied) if negative else copied
        return copied.conj() if conjugate else copied

    def _storage(self, tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        key = (storage._cdata, tensor.dtype)
        if key not in self._storages:
            flat = torch.empty(0, dtype=tensor.dtype).set_(
                storage, 0, (storage.nbytes() // tensor.itemsize,), (1,)
            )
            if self._rolled and flat.is_floating_point():
                flat = flat.roll(1)
            self._storages[key] = flat.to(self._device, copy=True)
        return self._storages[key]


def tensors_of(tree: Any) -> list[torch.Tensor]:
    """Return all tensors of a tree, in order."""
    return [leaf for leaf in tree_flatten(tree)[0] if isinstance(leaf, torch.Tensor)]
