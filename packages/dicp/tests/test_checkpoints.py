"""A checkpoint redraws the random numbers of eager mode in its backward graph."""

from __future__ import annotations

import torch
from torch.nn import functional as F  # noqa: N812
from torch.utils.checkpoint import checkpoint

from agreement import assert_agree


def test_dropout_within_a_checkpoint_is_that_of_eager_mode() -> None:
    def inner(x: torch.Tensor) -> torch.Tensor:
        return F.dropout(x.tanh(), 0.4) * 2

    def function(x: torch.Tensor) -> torch.Tensor:
        made: torch.Tensor = checkpoint(inner, x, use_reentrant=False)
        return made

    compiled = torch.compile(function, backend="dl")
    for rows in (64, 64, 48):
        x = torch.randn(rows, 8).to("dl")
        mine, theirs = (x.clone().requires_grad_() for _ in range(2))
        results = []
        for run, given in ((compiled, mine), (function, theirs)):
            torch.manual_seed(3)
            results.append(run(given))
            # Later draws continue as they would without a checkpoint.
            results.append(torch.randn(4, device="dl"))
        assert torch.equal(results[0].cpu(), results[2].cpu())
        assert torch.equal(results[1].cpu(), results[3].cpu())
        grad = torch.randn(rows, 8).to("dl")
        torch.autograd.backward([results[0], results[2]], [grad, grad])
        assert mine.grad is not None and theirs.grad is not None
        assert torch.equal(mine.grad == 0, results[0] == 0)
        assert_agree(mine.grad, theirs.grad)
