"""An operator that no vendor supports, for tests of the fallback.

It has one tensor, of square matrices, and one result. When vendors support it, choose another
operator here.
"""

from __future__ import annotations

import torch

CALL = "torch.linalg.eigvalsh"
"""Expression with which a program calls the operator."""
OVERLOAD = "_linalg_eigh"
"""Name of the operator in fallback statistics."""


def lacking(x: torch.Tensor) -> torch.Tensor:
    """Apply the operator to square matrices; fail if dl has it natively."""
    native = [name for name in torch.dl.native_operators() if name.startswith(OVERLOAD)]
    assert not native, f"dl has {native} natively: choose another operator here"
    return torch.linalg.eigvalsh(x)
