"""Reductions, orderings and distances: see native.py for what the tables mean."""

from __future__ import annotations

import torch

from .direct_cases import FLOATING, DirectCase

FORWARD: dict[str, tuple[str, ...]] = {
    "_cdist_forward": ("cdist",),
    "_unique2": ("unique",),
    "linalg_vector_norm": ("linalg.vector_norm",),
    "max": ("max.reduction_no_dim",),
    "max.dim": ("max.reduction_with_dim",),
    "min": ("min.reduction_no_dim",),
    "min.dim": ("min.reduction_with_dim",),
    "norm.ScalarOpt_dim": ("norm", "norm.inf"),
    "sort.stable": ("sort", "msort", "argsort"),
}
BACKWARD: dict[str, tuple[str, ...]] = {"_cdist_backward": ("cdist",)}
DECLARED: dict[str, tuple[str, str]] = {}

CASES = {
    "norm.ScalarOpt_dim_dtype": DirectCase(
        "norm",
        lambda x, p: torch.norm(x, p, dim=0, dtype=torch.float64),
        FLOATING,
        numbers=((2,), (1,), (3,)),
    ),
}
