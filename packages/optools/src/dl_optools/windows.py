"""A view's gradient, read out of the gradient of its base.

Where a view is written to, autograd gives base and view a new history: what was known of the view
before is no longer on the way, and only the base's old edge gets a gradient.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Window:
    """Where a view lies in its base.

    :ivar size: of the view, in elements.
    :ivar stride: of the view, in elements.
    :ivar offset: of the view's first element from the base's first one.
    :ivar base_size: of the base.
    :ivar base_stride: of the base.
    """

    size: torch.Size
    stride: tuple[int, ...]
    offset: int
    base_size: torch.Size
    base_stride: tuple[int, ...]

    @classmethod
    def of(cls, view: torch.Tensor) -> Window | None:
        """None where it is no view, or one whose elements are not single elements of the base."""
        base = view._base
        if base is None or view.layout != torch.strided or base.layout != torch.strided:
            return None
        marks = view.is_conj() or base.is_conj() or view.is_neg() or base.is_neg()
        if base.dtype != view.dtype or marks or 0 in view.stride() or not _dense(base):
            return None
        offset = int(view.storage_offset()) - int(base.storage_offset())
        return cls(view.size(), view.stride(), offset, base.size(), base.stride())

    def read(self, gradient: torch.Tensor) -> torch.Tensor:
        """The view's gradient, given the base's."""
        if gradient.layout != torch.strided:
            gradient = gradient.to_dense()
        if gradient.stride() != self.base_stride:
            laid = torch.empty_strided(
                self.base_size, self.base_stride, dtype=gradient.dtype, device=gradient.device
            )
            gradient = laid.copy_(gradient)
        return gradient.as_strided(self.size, self.stride, gradient.storage_offset() + self.offset)


def _dense(base: torch.Tensor) -> bool:
    """Whether the tensor fills its memory: one element a place, and no place left out."""
    if base.is_contiguous():
        return True
    expected = 1
    for stride, size in sorted(zip(base.stride(), base.size(), strict=True)):
        if size != 1 and stride != expected:
            return False
        expected *= size
    return True
