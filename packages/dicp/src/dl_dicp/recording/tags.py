"""Properties of operators that follow from torch's tags."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._pytree import tree_flatten


def varies(target: Any, args: Any) -> bool:
    """Return True if sizes or scalars of an operator's results are known only after it has run.
    Indexing with integers is excluded: it yields one element for each index."""
    tags = getattr(target, "tags", ())
    if torch.Tag.data_dependent_output in tags:
        return True
    if torch.Tag.dynamic_output_shape not in tags:
        return False
    tensors = [x for x in tree_flatten(args)[0] if isinstance(x, torch.Tensor)]
    masks = any(x.dtype in (torch.bool, torch.uint8) for x in tensors[1:])
    return masks or target is not torch.ops.aten.index.Tensor


def is_random(target: Any) -> bool:
    """Return True if the operator draws random numbers."""
    return torch.Tag.nondeterministic_seeded in getattr(target, "tags", ())
