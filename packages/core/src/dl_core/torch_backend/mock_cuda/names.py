"""Translation of names that refer to CUDA devices."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import torch

from dl_core.torch_backend import DEVICE

_Device = torch.device
"""The original class, even while ``torch.device`` is replaced."""

_TYPE_TEXT = re.compile(r"torch\.cuda\.\w+")
_spellings = ["cuda"]
_device_text = re.compile(r"(?:cuda)(:\d+)?")


def add_spellings(spellings: Iterable[str]) -> None:
    """Add names of device types that mean ``dl`` while CUDA is mocked."""
    global _device_text
    _spellings.extend(name for name in spellings if name not in _spellings)
    _device_text = re.compile(rf"(?:{'|'.join(map(re.escape, _spellings))})(:\d+)?")


def to_dl(value: Any) -> Any:
    """Return ``value`` with ``dl`` instead of a CUDA device or tensor type; otherwise unchanged."""
    if isinstance(value, str):
        if match := _device_text.fullmatch(value):
            return DEVICE + (match[1] or "")
        if _TYPE_TEXT.fullmatch(value):
            return value.replace("cuda", DEVICE, 1)
    elif isinstance(value, _Device) and value.type == "cuda":
        return _Device(DEVICE) if value.index is None else _Device(DEVICE, value.index)
    return value


def location_to_dl(value: Any) -> Any:
    """Translate ``map_location``, which may be a dictionary."""
    if isinstance(value, dict):
        return {to_dl(key): to_dl(place) for key, place in value.items()}
    return to_dl(value)


def backend_to_dl(value: Any) -> Any:
    """Translate a backend of ``torch.distributed``: ``nccl``, or ``cpu:gloo,cuda:nccl``."""
    if not isinstance(value, str) or "nccl" not in value.lower():
        return to_dl(value)
    parts = []
    for part in value.lower().split(","):
        device, colon, backend = part.strip().rpartition(":")
        parts.append(f"{to_dl(device)}{colon}{_backend() if backend == 'nccl' else backend}")
    return ",".join(parts)


def _backend() -> str:
    """Return the replacement of NCCL: dl's own backend if it is registered, otherwise gloo."""
    registered: list[str] = torch.distributed.Backend.backend_list
    return "dicl" if "dicl" in registered else "gloo"
