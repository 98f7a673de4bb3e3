"""Programs for the ranks that must fail."""

from __future__ import annotations

import torch
import torch.distributed as dist

from .data import everyone, folded, on_dl, same, values


def wrong_sum() -> None:
    x = on_dl(values(dist.get_rank(), (5,), torch.float32))
    if dist.get_rank() == 1:
        x[3] += 1
    dist.all_reduce(x)
    same(x, folded(everyone((5,), torch.float32), "SUM"), "planted")
