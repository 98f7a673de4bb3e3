"""CUDA-specific methods of tensors and storages, implemented for dl."""

from __future__ import annotations

from typing import Any

import torch

from dl_core.torch_backend import DEVICE
from dl_core.torch_backend._utils import _get_device_index
from dl_core.torch_backend.legacy import TENSORS, legacy_class
from dl_core.torch_backend.mock_cuda.names import to_dl


def _device(device: Any) -> torch.device:
    return torch.device(DEVICE, _get_device_index(to_dl(device), optional=True))


def _traced_device(device: Any) -> Any:
    """Same as _device, with operations that Dynamo can trace: it takes our replacements for
    torch's."""
    if device is None:
        return DEVICE
    if isinstance(device, int):
        return f"{DEVICE}:{device}"
    device = to_dl(device)
    return device if str(device).partition(":")[0] == DEVICE else _device(device)


def tensor_to_dl(
    self: torch.Tensor,
    device: Any = None,
    non_blocking: bool = False,
    memory_format: torch.memory_format = torch.preserve_format,
) -> torch.Tensor:
    """``Tensor.cuda``."""
    place = _traced_device(device)
    return self.to(device=place, non_blocking=non_blocking, memory_format=memory_format)


def storage_to_dl(self: Any, device: Any = None, non_blocking: bool = False) -> Any:
    """``UntypedStorage.cuda`` and ``TypedStorage.cuda``."""
    return getattr(self, DEVICE)(_device(device), non_blocking)


def _is_on_dl(self: Any) -> bool:
    return bool(self.device.type == DEVICE)


is_on_dl = property(_is_on_dl)
"""``is_cuda``."""


_set_default_tensor_type = torch.set_default_tensor_type
"""torch's own function, which does not know dl's tensor types."""

_is_default_type = False
"""True while a dl tensor type is the default tensor type."""


def set_default_tensor_type(t: Any) -> None:
    """Replace ``torch.set_default_tensor_type``; also supports the types of ``torch.cuda``.

    :raises TypeError: ``t`` is not a floating-point tensor type.
    """
    global _is_default_type
    t = to_dl(t)
    if isinstance(t, str) and t.startswith(f"torch.{DEVICE}."):
        t = legacy_class(t.rpartition(".")[2]) or t
    if any(t is legacy_class(name) for name in TENSORS):
        torch.set_default_dtype(t.dtype)
        torch.set_default_device(DEVICE)
        _is_default_type = True
        return
    _set_default_tensor_type(t)
    if _is_default_type:
        torch.set_default_device(None)
        _is_default_type = False
