"""``load_file`` of safetensors for dl's device names; safetensors itself takes only indices."""

from __future__ import annotations

from os import PathLike
from typing import Any

import safetensors.torch
import torch

from dl_integrations.device import DEVICE, index_of

__all__ = ["known_device", "load_file"]


def load_file(
    filename: str | PathLike[str], device: str | int | torch.device = "cpu"
) -> dict[str, torch.Tensor]:
    """Return the tensors of a file by name, on ``device``: ``"dl"``, ``"dl:1"`` or any other."""
    tensors: dict[str, torch.Tensor] = safetensors.torch.load_file(
        filename, device=known_device(device)
    )
    return tensors


def known_device(device: Any) -> Any:
    """Return the device as safetensors takes it: dl devices by their index.

    A name that torch does not know is returned as it is, for the error of safetensors.
    """
    if isinstance(device, (str, torch.device)) and _is_ours(device):
        return index_of(device)
    return str(device) if isinstance(device, torch.device) else device


def _is_ours(device: str | torch.device) -> bool:
    try:
        return torch.device(device).type == DEVICE
    except RuntimeError:
        return False
