"""The one place where torch 2.13 has to be patched. Nothing else of torch is.

The patch does something only for dl tensors and calls what it replaces for all others.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch.overrides import has_torch_function_unary

from dl_core.torch_backend import DEVICE

_MARK = "_dl_patch"


def apply() -> None:
    """Install the patch. A second call does nothing."""
    _replace(torch.Tensor, "__dlpack_device__", _dlpack_device)


def _replace(owner: type, name: str, wrap: Callable[[Any], Any]) -> None:
    original = getattr(owner, name)
    if hasattr(original, _MARK):
        return
    patched = functools.wraps(original)(wrap(original))
    setattr(patched, _MARK, True)
    setattr(owner, name, patched)


def _dlpack_device(original: Callable[[torch.Tensor], Any]) -> Callable[[torch.Tensor], Any]:
    """``Tensor.__dlpack_device__`` knows outside devices by a name none of them has.

    https://github.com/pytorch/pytorch/pull/195815. Without it ``from_dlpack(tensor)`` raises
    ValueError although the C++ half of the exchange works.
    """

    def dlpack_device(self: torch.Tensor) -> Any:
        if has_torch_function_unary(self) or self.device.type != DEVICE:
            return original(self)
        from torch.utils.dlpack import DLDeviceType

        return DLDeviceType.kDLExtDev, self.device.index

    return dlpack_device
