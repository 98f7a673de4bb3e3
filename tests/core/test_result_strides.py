"""Strides of results on which programs and compiled code rely equal the strides on torch's CPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.utils._pytree import tree_leaves

Made = Callable[[torch.Tensor], Any]

MASKS = {
    "some": torch.tensor([[1, 0, 2], [0, 3, 4]]),
    "none": torch.zeros(2, 3),
    "line": torch.tensor([1, 0, 1]),
    "scalar": torch.tensor(3),
    "empty": torch.ones(2, 0, 3),
    "transposed": torch.tensor([[1, 0, 2], [0, 3, 4]]).t(),
    "complex": torch.tensor([[1j, 0], [0, 2]]),
}


def strides(result: Any) -> list[tuple[int, ...]]:
    return [tensor.stride() for tensor in tree_leaves(result)]


def check(call: Made, tensor: torch.Tensor) -> None:
    expected, got = call(tensor), call(tensor.to("dl"))
    assert strides(got) == strides(expected)
    for left, right in zip(tree_leaves(got), tree_leaves(expected), strict=True):
        assert torch.equal(left.cpu(), right)


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
@pytest.mark.parametrize(
    "call", [torch.nonzero, torch.argwhere, torch.where], ids=["nonzero", "argwhere", "where"]
)
def test_positions_are_stored_by_columns(call: Made, mask: torch.Tensor) -> None:
    check(call, mask)


def test_rows_of_positions_make_an_edge_index_without_a_copy() -> None:
    positions = torch.eye(3, device="dl").nonzero()
    assert positions.t().is_contiguous()
    assert positions.unbind(1)[1].storage_offset() == 3


@pytest.mark.filterwarnings("ignore:Sparse")
def test_dense_tensors_become_sparse_while_invariants_are_checked() -> None:
    with torch.sparse.check_sparse_tensor_invariants():
        dense = torch.tensor([[0.0, 1.0, 0.0], [2.0, 0.0, 3.0]], device="dl")
        assert torch.equal(dense.to_sparse_csr().to_dense(), dense)
        assert torch.equal(dense.to_sparse().to_dense(), dense)
        assert dense.to_sparse().indices().is_contiguous()


@pytest.mark.parametrize("pad", [(-1, -1), (0, -1, -1, 0), (-1, 0)], ids=str)
@pytest.mark.parametrize("format", [torch.contiguous_format, torch.channels_last], ids=str)
def test_negative_pads_keep_the_order_of_their_window(
    pad: tuple[int, ...], format: torch.memory_format
) -> None:
    image = torch.arange(96.0).reshape(2, 3, 4, 4).contiguous(memory_format=format)
    check(lambda x: torch.nn.functional.pad(x, pad), image)
    check(lambda x: torch.nn.functional.pad(x.transpose(0, 3), pad), image)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: torch.triu_indices(0, 2, device=x.device),
        lambda x: torch.tril_indices(2, 3, device=x.device),
        lambda x: torch.ormqr(x.new_zeros(0, 2), x.new_zeros(0), x.new_zeros(0, 2)),
        lambda x: torch.nn.functional.channel_shuffle(x.expand(2, 8, 5, 3)[..., :0], 4),
        lambda x: torch.unique_consecutive(x.expand(5, 3), dim=-1),
    ],
    ids=["triu_indices", "tril_indices", "ormqr", "channel_shuffle", "unique_consecutive"],
)
def test_strides_of_results_without_elements_or_of_one_column(call: Made) -> None:
    check(call, torch.ones(1))
