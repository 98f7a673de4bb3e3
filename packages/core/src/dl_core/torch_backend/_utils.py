"""Device arguments. torch calls ``torch.dl._utils._get_device_index`` when it loads files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

import torch

from dl_core import _C
from dl_core.torch_backend import DEVICE

DeviceLike: TypeAlias = int | str | torch.device | None
_Function = TypeVar("_Function", bound=Callable[..., Any])


def traced_as_constant(function: _Function) -> _Function:
    """Let Dynamo evaluate calls of ``function`` while it traces: their results never change.

    As ``torch.compiler.assume_constant_result``, without importing the compiler.
    """
    function._dynamo_marked_constant = True  # type: ignore[attr-defined]
    return function


@traced_as_constant
def device_count() -> int:
    """Return the number of visible devices."""
    return _C.device_count()


def current_device() -> int:
    """Return the index of the current device of this thread."""
    # Dynamo evaluates torch's function while tracing, and recompiles for another device.
    return torch.accelerator.current_device_index()


def _get_device_index(device: DeviceLike, optional: bool = False, allow_cpu: bool = False) -> int:
    """Return the index of a device given as index, ``"dl:1"``, :class:`torch.device` or None.

    :param optional: None, and ``"dl"`` without an index, stand for the current device.
    :param allow_cpu: a CPU device returns -1.
    :raises ValueError: it is a device of another type, or its index is missing and not optional.
    """
    if isinstance(device, int):
        return device
    if isinstance(device, str):
        device = torch.device(device)
    if device is not None:
        if allow_cpu and device.type == "cpu":
            return -1
        if device.type != DEVICE:
            raise ValueError(f"[torch.dl] expected a dl device, got {device}")
        if device.index is not None:
            return device.index
    if not optional:
        raise ValueError(f"[torch.dl] expected a dl device with an index, got {device}: use 'dl:0'")
    return current_device()


def existing_index(operation: str, device: DeviceLike) -> int:
    """Return the index of an existing device; None stands for the current one.

    :raises ValueError: it is not a dl device.
    :raises RuntimeError: the device does not exist.
    """
    index = _get_device_index(device, optional=True)
    count = device_count()
    if not 0 <= index < count:
        there = f"dl:0 to dl:{count - 1}" if count > 1 else "dl:0"
        raise RuntimeError(
            f"[torch.dl.{operation}] there is no dl:{index}, only {there}. `dl doctor` shows which "
            f"devices are visible, and why; DL_VENDORS can make other devices visible."
        )
    return index
