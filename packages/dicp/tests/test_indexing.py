"""Indexing with integer tensors is in graphs; invalid indices are errors."""

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
    "one element": lambda x, i, j: torch.ops.aten.index(x, [i[0], j[1], i[2]]),
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


HOST_FORMS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "made in the graph": lambda x, i: x[torch.arange(3)],
    "a constant": lambda x, i: x[torch.tensor([1, -1])],
    "with one of the device": lambda x, i: x[torch.tensor([1, 0, 2]), i],
    "apart": lambda x, i: x[torch.tensor([1, 0, 2]), :, i],
    "a mask": lambda x, i: x.masked_fill(torch.tensor(True), 2.0)[torch.tensor([0])],
    "without dimensions": lambda x, i: x[torch.tensor(2)],
    "assigned": lambda x, i: x.index_put((torch.tensor([0, 2]),), torch.tensor(5.0)),
}


@pytest.mark.parametrize("form", HOST_FORMS)
def test_an_index_of_the_host_is_taken(form: str) -> None:
    function = HOST_FORMS[form]
    run = torch.compile(function, backend="dl")
    for _ in range(3):
        x, i = torch.randn(4, 5, 6), torch.tensor([0, 3, -1])
        assert torch.equal(run(x.to("dl"), i.to("dl")).cpu(), function(x, i))
    assert not statistics.eager
    assert form in ("a mask", "assigned") or not statistics.host_calls


def test_an_argument_of_the_host_is_an_index() -> None:
    run = torch.compile(lambda x, i: x[i] * 2, backend="dl")
    x = torch.randn(4, 5)
    for numbers in ([0, 3], [1, 1], [-4, 2]):
        i = torch.tensor(numbers)
        assert torch.equal(run(x.to("dl"), i).cpu(), x[i] * 2)
    assert not statistics.eager


@pytest.mark.parametrize(("row", "column"), [(0, 5), (0, -6), (4, 0), (-5, 4)])
def test_an_index_out_of_range_is_an_error(row: int, column: int) -> None:
    """An index is refused even if its flattened index would hit an element of the next row."""
    run = torch.compile(lambda x, i, j: x[i, j], backend="dl")
    x = torch.randn(4, 5).to("dl")
    right = torch.tensor([1]).to("dl")
    for _ in range(2):
        run(x, right, right)
    with pytest.raises((RuntimeError, IndexError), match="diopiIndexSelect"):
        run(x, torch.tensor([row]).to("dl"), torch.tensor([column]).to("dl"))
