"""Limit on the arguments that autocompare holds until backward."""

from __future__ import annotations

import torch

from dl_optools import OpAutoCompare


def test_arguments_that_wait_for_backward_stay_within_the_limit() -> None:
    x = torch.ones(256, requires_grad=True)
    options = {"device": "cpu", "level": "api", "every": 1, "csv": False, "stream": None}
    with OpAutoCompare(memory=3 * 4096, **options) as tool:
        waiting = [torch.exp(x) for _ in range(8)]
        # Each takes two copies of 1 KiB and some overhead: at most five of eight fit in 12 KiB.
        assert tool.results.dropped["torch.exp (gradients)"] >= 3
        del waiting
        before = tool.results.dropped.total()
        kept = torch.exp(x)
        assert tool.results.dropped.total() == before, "what a graph held is free with it"
        del kept
