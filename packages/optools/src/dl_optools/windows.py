"""Extraction of a view's gradient from the gradient of its base.

When a view is written to, autograd gives base and view a new history: the view's previous nodes are
no longer on the path, and only the base's old edge gets a gradient.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Window:
    """Position of a view in its base.

    :ivar size: size of the view in elements.
    :ivar stride: stride of the view in elements.
    :ivar offset: offset of the view's first element from the base's first element.
    :ivar base_size: size of the base.
    :ivar base_stride: stride of the base.
    """

    size: torch.Size
    stride: tuple[int, ...]
    offset: int
    base_size: torch.Size
    base_stride: tuple[int, ...]

    @classmethod
    def of(cls, view: torch.Tensor) -> Window | None:
        """Return None if a tensor is not a view, or its elements are not single elements of the
        base."""
        base = view._base
        if base is None or view.layout != torch.strided or base.layout != torch.strided:
            return None
        marks = view.is_conj() or base.is_conj() or view.is_neg() or base.is_neg()
        if base.dtype != view.dtype or marks or 0 in view.stride() or not _dense(base):
            return None
        offset = int(view.storage_offset()) - int(base.storage_offset())
        return cls(view.size(), view.stride(), offset, base.size(), base.stride())

    def read(self, gradient: torch.Tensor) -> torch.Tensor:
        """Return the view's gradient, given the base's."""
        if gradient.layout != torch.strided:
            gradient = gradient.to_dense()
        if gradient.stride() != self.base_stride:
            laid = torch.empty_strided(
                self.base_size, self.base_stride, dtype=gradient.dtype, device=gradient.device
            )
            gradient = laid.copy_(gradient)
        return gradient.as_strided(self.size, self.stride, gradient.storage_offset() + self.offset)


def _dense(base: torch.Tensor) -> bool:
    """Return True if the tensor fills its memory without overlaps and gaps."""
    if base.is_contiguous():
        return True
    expected = 1
    for stride, size in sorted(zip(base.stride(), base.size(), strict=True)):
        if size != 1 and stride != expected:
            return False
        expected *= size
    return True
