"""Copies of operator arguments on another device or in another dtype.

Storages are copied rather than tensors, so that strides, offsets and sharing of memory are
preserved. Only the part of a storage that the arguments reach is copied.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from dl_optools.tensors import map_leaves, tensors_of

WIDER: Mapping[torch.dtype, torch.dtype] = {
    torch.float16: torch.float64,
    torch.bfloat16: torch.float64,
    torch.float32: torch.float64,
    torch.complex32: torch.complex128,
    torch.complex64: torch.complex128,
}
"""Dtype in which a reference is computed."""

Key = tuple[int, torch.dtype]


@dataclass
class _Part:
    """Elements [first, last) of a storage, and their copy."""

    first: int
    last: int
    original: torch.Tensor
    copy: torch.Tensor | None = None


def _reach(tensor: torch.Tensor) -> tuple[int, int]:
    """Return the first storage element that a strided tensor reaches, and the element past its
    last."""
    first = int(tensor.storage_offset())
    if tensor.numel() == 0:
        return first, first
    spans = zip(tensor.size(), tensor.stride(), strict=True)
    return first, first + 1 + sum((int(size) - 1) * int(stride) for size, stride in spans)


def _key(tensor: torch.Tensor) -> Key:
    return tensor.untyped_storage()._cdata, tensor.dtype


def _plain(tensor: torch.Tensor) -> torch.Tensor:
    """Return the tensor without its conjugate and negative bits, over the same memory."""
    tensor = tensor.detach()
    if tensor.is_conj():
        tensor = tensor.conj()
    return torch._neg_view(tensor) if tensor.is_neg() else tensor


def _with_marks(plain: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """Restore the bits of ``like``."""
    if like.is_neg():
        plain = torch._neg_view(plain)
    return plain.conj() if like.is_conj() else plain


class Relocation:
    """One consistent copy: tensors that share memory in the original share it in the copy.

    :param tree: arguments in nested lists, tuples and dictionaries.
    :param device: device of the copies.
    :param dtypes: mapping of dtypes; other dtypes do not change.
    """

    def __init__(
        self,
        tree: Any,
        device: torch.device | str = "cpu",
        dtypes: Mapping[torch.dtype, torch.dtype] | None = None,
    ) -> None:
        self.device = torch.device(device)
        self.dtypes = dtypes or {}
        self._parts: dict[Key, _Part] = {}
        self._known: dict[int, torch.Tensor] = {}
        tensors = tensors_of(tree)
        self._sources = {x.device.type for x in tensors}
        for tensor in tensors:
            if tensor.layout == torch.strided:
                self._extend(_plain(tensor))
        self.tree = map_leaves(self._leaf, tree)

    def parts(self) -> list[torch.Tensor]:
        """Return all memory of the copy, each part as a flat tensor."""
        return [part.copy for part in self._parts.values() if part.copy is not None]

    def copy_of(self, tensor: torch.Tensor) -> torch.Tensor:
        """Return the copy of a tensor in the tree."""
        return self._known[id(tensor)]

    def original_view(self, copied: torch.Tensor) -> torch.Tensor | None:
        """Return the original's elements for a tensor in the copy's memory; None if elsewhere."""
        if copied.layout != torch.strided:
            return None
        place = copied.untyped_storage()._cdata
        for part in self._parts.values():
            if part.copy is not None and part.copy.untyped_storage()._cdata == place:
                offset = copied.storage_offset() + part.first
                view = part.original.as_strided(copied.size(), copied.stride(), offset)
                return _with_marks(view, copied)
        return None

    def _extend(self, plain: torch.Tensor) -> None:
        first, last = _reach(plain)
        known = self._parts.get(_key(plain))
        if known is None:
            whole = plain.as_strided((0,), (1,), 0)
            self._parts[_key(plain)] = _Part(first, last, whole)
        else:
            known.first, known.last = min(known.first, first), max(known.last, last)

    def _leaf(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            if id(value) not in self._known:
                self._known[id(value)] = self._tensor(value)
            return self._known[id(value)]
        if isinstance(value, torch.dtype):
            return self.dtypes.get(value, value)
        if isinstance(value, torch.device) and value.type in self._sources:
            return self.device
        if isinstance(value, torch.Generator):
            return self._generator(value)
        # `cpu` alone may be a word; `cpu:0` names a device.
        if isinstance(value, str) and value.partition(":")[0] in self._sources and ":" in value:
            return str(self.device)
        return value

    def _generator(self, given: torch.Generator) -> torch.Generator:
        if given.device.type == self.device.type:
            return given.clone_state()
        return torch.Generator(self.device).manual_seed(given.initial_seed())

    def _tensor(self, tensor: torch.Tensor) -> torch.Tensor:
        dtype = self.dtypes.get(tensor.dtype, tensor.dtype)
        if tensor.layout != torch.strided:
            moved = tensor.detach().to(self.device, dtype, copy=True)
        else:
            plain = _plain(tensor)
            part = self._parts[_key(plain)]
            if part.copy is None:
                flat = plain.as_strided((part.last - part.first,), (1,), part.first)
                # Devices may not support the wider dtype: other tensors are widened here.
                here = flat if flat.device == self.device else flat.to(self.device)
                part.copy = here.to(dtype, copy=here is flat)
            offset = plain.storage_offset() - part.first
            moved = _with_marks(part.copy.as_strided(plain.size(), plain.stride(), offset), tensor)
        return moved.requires_grad_() if tensor.requires_grad else moved
