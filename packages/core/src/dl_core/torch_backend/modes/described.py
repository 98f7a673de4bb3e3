"""Values of calls in words."""

from __future__ import annotations

from typing import Any

import torch

_MOST = 200
"""Characters of a value that is no tensor."""


def short(value: Any) -> str:
    """``float32[2, 3]`` for a tensor, the value itself for what is small."""
    if isinstance(value, torch.Tensor):
        return f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}"
    if isinstance(value, (list, tuple)) and any(isinstance(x, torch.Tensor) for x in value):
        return f"[{', '.join(short(x) for x in value)}]"
    text = repr(value)
    return text if len(text) <= _MOST else f"{text[:_MOST]}…"


def where(*values: Any) -> int:
    """The index of the dl device that a call is for."""
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
