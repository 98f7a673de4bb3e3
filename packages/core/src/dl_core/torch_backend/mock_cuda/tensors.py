"""What tensors and storages can do on CUDA alone, for those of dl."""

from __future__ import annotations

from typing import Any

import torch

from dl_core.torch_backend import DEVICE
from dl_core.torch_backend._utils import _get_device_index
from dl_core.torch_backend.mock_cuda.names import to_dl


def _device(device: Any) -> torch.device:
    return torch.device(DEVICE, _get_device_index(to_dl(device), optional=True))


def tensor_to_dl(
    self: torch.Tensor,
    device: Any = None,
    non_blocking: bool = False,
    memory_format: torch.memory_format = torch.preserve_format,
) -> torch.Tensor:
    """``Tensor.cuda``."""
    place = _device(device)
    return self.to(device=place, non_blocking=non_blocking, memory_format=memory_format)


def storage_to_dl(self: Any, device: Any = None, non_blocking: bool = False) -> Any:
    """``UntypedStorage.cuda`` and ``TypedStorage.cuda``."""
    return getattr(self, DEVICE)(_device(device), non_blocking)


def _is_on_dl(self: Any) -> bool:
    return bool(self.device.type == DEVICE)


is_on_dl = property(_is_on_dl)
"""``is_cuda``."""
