"""``load_file`` of safetensors for dl's device names; safetensors itself takes only indices."""

from __future__ import annotations

from os import PathLike

import safetensors.torch
import torch

from dl_integrations.device import index_of

__all__ = ["load_file"]


def load_file(
    filename: str | PathLike[str], device: str | int | torch.device = "cpu"
) -> dict[str, torch.Tensor]:
    """Return the tensors of a file by name, on ``device``: ``"dl"``, ``"dl:1"`` or any other."""
    if not isinstance(device, int):
        place = torch.device(device)
        device = index_of(place) if place.type == "dl" else str(place)
    tensors: dict[str, torch.Tensor] = safetensors.torch.load_file(filename, device=device)
    return tensors
