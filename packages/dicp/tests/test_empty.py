"""Tensors that begin empty and are written in parts."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from dl_dicp import statistics

FORMS: dict[str, Callable[[Tensor], Tensor]] = {
    "empty_like": torch.empty_like,
    "new_empty": lambda x: x.new_empty(x.shape),
    "empty": lambda x: torch.empty(4, 3, device=x.device),
}


@pytest.mark.parametrize("form", FORMS)
def test_what_is_written_in_parts_is_in_the_graph(form: str) -> None:
    def function(x: Tensor, rows: Tensor) -> Tensor:
        made = FORMS[form](x)
        made[rows] = x * 2
        return made

    run = torch.compile(function, backend="dl")
    rows = torch.tensor([2, 0, 3, 1])
    for _ in range(3):
        x = torch.randn(4, 3)
        got = run(x.to("dl"), rows.to("dl"))
        assert torch.equal(got.cpu(), function(x, rows))
    assert not statistics.eager
    assert statistics.graphs >= 2
