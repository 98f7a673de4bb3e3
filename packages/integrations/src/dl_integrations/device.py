"""The dl device of this process. The functions import torch; importing this module does not."""

from __future__ import annotations

from typing import Any

DEVICE = "dl"


def is_there() -> bool:
    """Return True if this torch has a dl device."""
    import torch

    module = getattr(torch, DEVICE, None)
    return module is not None and bool(module.is_available())


def dl() -> Any:
    """Return the module ``torch.dl``, which type checkers do not know."""
    import torch

    return torch.get_device_module(DEVICE)


def index_of(device: Any) -> int:
    """Return the index of a device in any form; for a device without index, the current one's."""
    return int(dl()._utils._get_device_index(device, optional=True))
