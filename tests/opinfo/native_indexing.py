"""Cases of indexing, scatter, shape and padding operators, for the tables in native.py."""

from __future__ import annotations

from typing import Any

import torch

from .direct_cases import DirectCase


def _stacked(first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
    return torch.ops.aten._stack([first, second], -1)


CASES: dict[str, Any] = {"_stack": DirectCase("_stack", _stacked, operands=2)}
