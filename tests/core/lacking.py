"""An operator that stands for all that no vendor has, where a test is about what falls back.

It has one tensor, of square matrices, and one result. Once vendors have it, another one is chosen
here.
"""

from __future__ import annotations

import torch

CALL = "torch.linalg.eigvalsh"
"""How a program calls it."""
OVERLOAD = "_linalg_eigh"
"""What counts of fallbacks call it."""


def lacking(x: torch.Tensor) -> torch.Tensor:
    """What it makes of square matrices; an error where dl has it natively."""
    native = [name for name in torch.dl.native_operators() if name.startswith(OVERLOAD)]
    assert not native, f"dl has {native} natively: choose another operator here"
    return torch.linalg.eigvalsh(x)
