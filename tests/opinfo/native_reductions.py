"""Cases of reductions, orderings and distances, for the tables in native.py."""

from __future__ import annotations

import torch

from .direct_cases import FLOATING, DirectCase

CASES = {
    "norm.ScalarOpt_dim": DirectCase(
        "norm",
        lambda x, p: torch.ops.aten.norm.ScalarOpt_dim(x, p, [0]),
        FLOATING,
        numbers=((2,), (1,), (3,)),
    ),
    "norm.ScalarOpt_dim_dtype": DirectCase(
        "norm",
        lambda x, p: torch.ops.aten.norm.ScalarOpt_dim_dtype(x, p, [0], False, dtype=torch.float64),
        FLOATING,
        numbers=((2,), (1,), (3,)),
    ),
}
