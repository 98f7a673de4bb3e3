from __future__ import annotations

from typing import Any

import pytest
import torch

from dl_optools.relocation import WIDER, Relocation


def test_tensors_that_share_memory_share_it_in_the_copy() -> None:
    x = torch.arange(12.0).reshape(3, 4)
    moved = Relocation({"whole": x, "row": x[1], "columns": x.t()[1:3]})
    copy = moved.tree
    copy["whole"].add_(100)
    assert torch.equal(copy["row"], x[1] + 100)
    assert torch.equal(copy["columns"], x.t()[1:3] + 100)
    assert copy["columns"].stride() == x.t()[1:3].stride()
    assert x.sum() == 66


def test_only_the_part_that_is_reached_is_copied() -> None:
    big = torch.zeros(10_000)
    moved = Relocation([big[100:110], big[105:120:5]])
    assert [part.numel() for part in moved.parts()] == [16]
    assert [x.tolist() for x in moved.tree] == [[0.0] * 10, [0.0] * 3]


@pytest.mark.parametrize(
    "tensor",
    [
        torch.randn(3).expand(4, 3),
        torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last),
        torch.randn(6)[::2],
        torch.randn(3, dtype=torch.complex64).conj(),
        torch.randn(3, dtype=torch.complex64).conj().imag,
        torch.empty(0, 3),
        torch.randn(3, 4)[1:1],
        torch.tensor(3.0),
        torch.arange(5),
        torch.eye(3).to_sparse(),
    ],
    ids=str,
)
def test_layouts_are_preserved(tensor: torch.Tensor) -> None:
    (copy,) = Relocation([tensor]).tree
    assert copy.layout == tensor.layout and copy.dtype == tensor.dtype
    if tensor.layout == torch.strided:
        assert copy.stride() == tensor.stride()
        assert (copy.is_conj(), copy.is_neg()) == (tensor.is_conj(), tensor.is_neg())
        assert copy.untyped_storage().data_ptr() != tensor.untyped_storage().data_ptr() or (
            not tensor.numel()
        )
    assert torch.equal(copy.to_dense(), tensor.to_dense())


def test_dtypes_widen_and_arguments_that_name_them_follow() -> None:
    x = torch.ones(2, dtype=torch.bfloat16, requires_grad=True)
    moved = Relocation((x, torch.arange(2), {"dtype": torch.bfloat16}), dtypes=WIDER)
    wide, integers, keywords = moved.tree
    assert wide.dtype == torch.float64 and wide.requires_grad and wide.is_leaf
    assert integers.dtype == torch.int64 and keywords == {"dtype": torch.float64}
    assert moved.copy_of(x) is wide


def test_the_same_tensor_is_the_same_copy_and_structures_stay() -> None:
    x = torch.ones(2)
    moved = Relocation(([x], {"set": {x}}, torch.ones(2, 2).max(dim=0)))
    (one,), keywords, extremes = moved.tree
    assert keywords["set"] == {one} and one is not x
    assert isinstance(extremes, torch.return_types.max)


def test_places_in_the_copy_are_found_in_the_original() -> None:
    x = torch.arange(10.0)
    moved = Relocation([x[2:8]])
    view = moved.original_view(moved.tree[0][1::2])
    assert view is not None and view.tolist() == [3.0, 5.0, 7.0]
    view.zero_()
    assert x[3] == 0 and moved.original_view(torch.ones(2)) is None


def test_devices_follow() -> None:
    arguments: Any = [torch.ones(2), torch.device("cpu"), "cpu:0", "cpu", torch.device("cuda")]
    x, device, spelled, word, other = Relocation(arguments, "meta").tree
    assert x.device.type == device.type == "meta" and spelled == "meta"
    # A bare "cpu" may not be a device: it could be an equation of einsum, for example.
    assert word == "cpu" and other.type == "cuda"


def test_generators_are_copied_with_their_state() -> None:
    generator = torch.Generator().manual_seed(3)
    torch.rand(5, generator=generator)
    (copy,) = Relocation([generator]).tree
    expected = torch.rand(2, generator=copy)
    assert copy is not generator and torch.equal(torch.rand(2, generator=generator), expected)
