"""Copies of operator arguments on another device or in another dtype.

Whole storages are copied, not tensors, so that strides, offsets and shared memory are preserved,
and because operators such as ``as_strided`` reach beyond their argument.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch.utils._pytree import tree_map


class Relocation:
    """One consistent copy: tensors that share a storage in the original share one in the copy."""

    def __init__(
        self, device: str = "cpu", dtypes: Mapping[torch.dtype, torch.dtype] | None = None
    ) -> None:
        self.device = torch.device(device)
        self.dtypes = dtypes or {}
        self._storages: dict[tuple[int, torch.dtype], torch.Tensor] = {}

    def __call__(self, tree: Any) -> Any:
        """Copy every tensor of ``tree``; devices and dtypes in the arguments are replaced."""
        return tree_map(self._leaf, tree)

    def storages(self) -> list[torch.Tensor]:
        """Return all memory of the copy, each storage as a flat tensor."""
        return list(self._storages.values())

    def _leaf(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return self._tensor(value)
        if isinstance(value, torch.UntypedStorage):
            held = torch.empty(0, dtype=torch.uint8).set_(value)
            return self._storage(held, torch.uint8).untyped_storage()
        if isinstance(value, torch.dtype):
            return self.dtypes.get(value, value)
        if isinstance(value, torch.device) and value.type == "cpu":
            return self.device
        if isinstance(value, str) and value == "cpu":
            return str(self.device)
        if isinstance(value, torch.Generator):
            return torch.Generator(self.device).manual_seed(value.initial_seed())
        return value

    def _tensor(self, tensor: torch.Tensor) -> torch.Tensor:
        dtype = self.dtypes.get(tensor.dtype, tensor.dtype)
        if tensor.layout != torch.strided:
            moved = tensor.detach().to(dtype).to(self.device)
        else:
            moved = self._strided(tensor.detach(), dtype)
        return moved.requires_grad_() if tensor.requires_grad else moved

    def _strided(self, tensor: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
        conjugate, negative = tensor.is_conj(), tensor.is_neg()
        if conjugate:
            tensor = tensor.conj()
        if negative:
            tensor = torch._neg_view(tensor)
        flat = self._storage(tensor, dtype)
        moved = torch.empty(0, dtype=dtype, device=self.device).set_(
            flat.untyped_storage(), tensor.storage_offset(), tensor.size(), tensor.stride()
        )
        if negative:
            moved = torch._neg_view(moved)
        return moved.conj() if conjugate else moved

    def _storage(self, tensor: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
        storage = tensor.untyped_storage()
        key = (storage._cdata, tensor.dtype)
        if key not in self._storages:
            elements = storage.nbytes() // tensor.itemsize
            flat = torch.empty(0, dtype=tensor.dtype).set_(storage, 0, (elements,), (1,))
            self._storages[key] = flat.to(dtype).to(self.device, copy=True)
        return self._storages[key]
