"""Names of the device, and DIPU's functions for devices, taken from ``torch.dl``."""

from __future__ import annotations

from typing import Any

import torch

from dl_core.torch_backend import DEVICE

__dipu__ = DEVICE
"""Name of the device type, for ``tensor.to(f"{__dipu__}:0")``."""
__diputype__ = DEVICE
"""``tensor.device.type`` of tensors on the device."""
__vendor__: str = torch.dl.get_device_properties(0).vendor  # type: ignore[attr-defined]
"""Name of the vendor of the first device."""


def __getattr__(name: str) -> Any:
    if name == "devicectx":
        name = "device"
    if name.startswith("__"):
        raise AttributeError(f"module 'torch_dipu.dipu.device' has no attribute {name!r}")
    return getattr(torch.dl, name)  # type: ignore[attr-defined]
