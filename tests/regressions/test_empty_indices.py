"""Operators with an empty tensor of indices, offsets or labels, whose first or last element is
read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.nn import functional

Place = Callable[[torch.Tensor], torch.Tensor]
"""Moves an argument to a device."""

NONE = torch.empty(0, dtype=torch.int64)
ROWS = torch.arange(12.0).view(4, 3)


def _zeros(*shape: int) -> torch.Tensor:
    return torch.zeros(shape)


CALLS: dict[str, Callable[[Place], Any]] = {
    "take": lambda at: at(ROWS).take(at(NONE)),
    "put": lambda at: at(ROWS).put(at(NONE), at(_zeros(0))),
    "index": lambda at: at(ROWS)[at(NONE)],
    "index_add": lambda at: at(ROWS).index_add(0, at(NONE), at(_zeros(0, 3))),
    "index_reduce": lambda at: at(ROWS).index_reduce(0, at(NONE), at(_zeros(0, 3)), "amax"),
    "scatter_reduce": lambda at: at(ROWS).scatter_reduce(
        0, at(NONE).view(0, 3), at(_zeros(0, 3)), "mean"
    ),
    "embedding": lambda at: functional.embedding(at(NONE), at(ROWS), max_norm=1.0),
    "searchsorted": lambda at: torch.searchsorted(at(_zeros(0)), at(_zeros(3))),
    "bucketize": lambda at: torch.bucketize(at(_zeros(3)), at(_zeros(0))),
    "segment_reduce to no offsets": lambda at: torch.segment_reduce(
        at(_zeros(0)), "sum", offsets=at(torch.tensor([0]))
    ),
    "unique_consecutive": lambda at: torch.unique_consecutive(
        at(NONE), return_inverse=True, return_counts=True
    ),
    "bincount": lambda at: torch.bincount(at(NONE), minlength=3),
    "repeat_interleave": lambda at: torch.repeat_interleave(at(NONE)),
    "rows of no compressed rows": lambda at: torch._convert_indices_from_csr_to_coo(
        at(NONE), at(NONE)
    ),
    "rows of one that ends": lambda at: torch._convert_indices_from_csr_to_coo(
        at(torch.tensor([0])), at(NONE)
    ),
    "compressed rows of no rows": lambda at: torch._convert_indices_from_coo_to_csr(at(NONE), 0),
    "nll_loss": lambda at: functional.nll_loss(at(_zeros(0, 4)), at(NONE), reduction="sum"),
    "cross_entropy": lambda at: functional.cross_entropy(at(_zeros(0, 4)), at(NONE)),
    "ctc_loss of targets without labels": lambda at: functional.ctc_loss(
        at(_zeros(3, 2, 4)), at(NONE), torch.tensor([3, 3]), torch.tensor([0, 0])
    ),
    "tensor_split": lambda at: at(ROWS).tensor_split(NONE),
    "isin": lambda at: torch.isin(at(ROWS), at(_zeros(0))),
    "quantile": lambda at: torch.quantile(at(ROWS), at(_zeros(0))),
}


@pytest.mark.filterwarnings("ignore:index_reduce")
@pytest.mark.parametrize("name", CALLS)
def test_no_indices_give_what_they_give_on_the_cpu(name: str) -> None:
    want, got = (CALLS[name](lambda x, d=device: x.to(d)) for device in ("cpu", "dl"))
    torch.testing.assert_close(
        got, want, rtol=0, atol=0, equal_nan=True, check_device=False, check_stride=True
    )


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("loss", ["multi_margin_loss", "multilabel_margin_loss"])
def test_margins_of_no_samples_are_the_mean_and_the_sum_of_nothing(
    loss: str, reduction: str
) -> None:
    """Torch's CPU returns uninitialized memory."""
    scores = torch.zeros(0, 4, device="dl", requires_grad=True)
    targets = NONE.to("dl") if loss == "multi_margin_loss" else NONE.to("dl").view(0, 4)
    result = getattr(functional, loss)(scores, targets, reduction=reduction)
    want = {"mean": torch.tensor(torch.nan), "sum": torch.tensor(0.0), "none": torch.zeros(0)}
    torch.testing.assert_close(result.detach().cpu(), want[reduction], equal_nan=True)
    result.sum().backward()
    assert scores.grad is not None
    assert scores.grad.shape == (0, 4)
