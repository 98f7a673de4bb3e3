"""The dl device of this process. Importing this is free: torch is imported when it is asked for."""

from __future__ import annotations

from typing import Any

DEVICE = "dl"


def is_there() -> bool:
    """Return True if this torch has a dl device."""
    import torch

    module = getattr(torch, DEVICE, None)
    return module is not None and bool(module.is_available())


def dl() -> Any:
    """The module ``torch.dl``, which type checkers do not know."""
    import torch

    return torch.get_device_module(DEVICE)


def index_of(device: Any) -> int:
    """The index of a device that is given in whatever way; without one, that of the current."""
    return int(dl()._utils._get_device_index(device, optional=True))
