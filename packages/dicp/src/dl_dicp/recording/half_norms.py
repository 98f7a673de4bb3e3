"""Batch norm in half precision with running statistics, as in a bfloat16 model.

The contract defines the statistics, weight and bias of batch norm as float32. In eager mode dl-core
passes half precision without a cast, because vendors may support both; a graph must follow the
contract.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

aten = torch.ops.aten
HALVES = (torch.float16, torch.bfloat16)


def batch_norm(
    x: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    mean: Tensor,
    variance: Tensor,
    momentum: float,
    eps: float,
) -> Any:
    """Decompose batch norm with parameters or statistics in half precision.

    :returns: NotImplemented for any other batch norm.
    """
    given = (weight, bias, mean, variance)
    if x.dtype not in HALVES or not any(y is not None and y.dtype in HALVES for y in given):
        return NotImplemented
    wide = [None if y is None else y.float() for y in given]
    out, *saved = aten._native_batch_norm_legit_no_training(x, *wide, momentum, eps)
    return out, *(y.to(x.dtype) for y in saved)
