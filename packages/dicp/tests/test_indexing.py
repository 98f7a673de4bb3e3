"""Indices that are tensors of integers are in graphs; wrong ones are errors."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from dl_dicp import statistics

FORMS: dict[str, Callable[[Tensor, Tensor, Tensor], Tensor]] = {
    "one": lambda x, i, j: x[:, j],
    "two": lambda x, i, j: x[i, j],
    "the last two": lambda x, i, j: x[:, i, j],
    "of different shapes": lambda x, i, j: x[i[:, None], j[None, :]],
    "apart": lambda x, i, j: x[i, :, j],
    "three": lambda x, i, j: x[i, j, i],
}


@pytest.mark.parametrize("form", FORMS)
def test_an_index_is_in_the_graph(form: str) -> None:
    function = FORMS[form]
    run = torch.compile(function, backend="dl")
    x = torch.randn(4, 5, 6)
    for numbers in ([0, 3, -1], [2, 2, 1], [-4, 0, 3]):
        i, j = torch.tensor(numbers), torch.tensor(numbers[::-1])
        got = run(*(each.to("dl") for each in (x, i, j)))
        assert torch.equal(got.cpu(), function(x, i, j))
    assert statistics.graphs == 2
    assert not statistics.host_calls
    assert not statistics.eager


@pytest.mark.parametrize(("row", "column"), [(0, 5), (0, -6), (4, 0), (-5, 4)])
def test_an_index_out_of_range_is_an_error(row: int, column: int) -> None:
    """Even where the element of the next row would be one."""
    run = torch.compile(lambda x, i, j: x[i, j], backend="dl")
    x = torch.randn(4, 5).to("dl")
    right = torch.tensor([1]).to("dl")
    for _ in range(2):
        run(x, right, right)
    with pytest.raises((RuntimeError, IndexError), match="diopiIndexSelect"):
        run(x, torch.tensor([row]).to("dl"), torch.tensor([column]).to("dl"))
