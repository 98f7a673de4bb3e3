"""Short descriptions of the values of calls."""

from __future__ import annotations

from typing import Any

import torch

_MOST = 200
"""Maximum number of characters of a value that is not a tensor."""


def short(value: Any) -> str:
    """Return ``float32[2, 3]`` for a tensor, and the value itself if it is short."""
    if isinstance(value, torch.Tensor):
        return f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}"
    if isinstance(value, (list, tuple)) and any(isinstance(x, torch.Tensor) for x in value):
        return f"[{', '.join(short(x) for x in value)}]"
    text = repr(value)
    return text if len(text) <= _MOST else f"{text[:_MOST]}…"


def where(*values: Any) -> int:
    """Return the index of the dl device of a call."""
    for value in values:
        if isinstance(value, torch.Tensor) and value.device.type == "dl":
            return int(value.device.index)
        if isinstance(value, torch.device) and value.type == "dl" and value.index is not None:
            return int(value.index)
        if isinstance(value, (list, tuple)):
            found = where(*value)
            if found >= 0:
                return found
    return -1
