"""Overloads by name."""

from __future__ import annotations

import functools
from typing import Any

import torch

from diopi_proto.tolerance.torch_operators.schema import Overload


@functools.cache
def overload_of(name: str) -> Overload[Any, Any]:
    """Return ``torch.ops.aten.add.Tensor`` for ``"add.Tensor"``."""
    packet, _, overload = name.partition(".")
    found: Overload[Any, Any] = getattr(getattr(torch.ops.aten, packet), overload or "default")
    return found
