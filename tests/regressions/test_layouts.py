"""Tensors that are not dense, which dl devices lack, are refused in words that name the way out."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn
from torch.nn import functional

# Torch warns of the state of its own sparse, nested and quantized tensors.
pytestmark = pytest.mark.filterwarnings("ignore")


def gradient(module: nn.Module) -> object:
    module.to("dl")(torch.tensor([[0, 1], [2, 2]], device="dl")).sum().backward()
    return module.weight.grad


def eye() -> torch.Tensor:
    return torch.eye(3, device="dl")


def places(*numbers: int) -> torch.Tensor:
    return torch.tensor(numbers, device="dl")


SPARSE: dict[str, Callable[[], object]] = {
    "to_sparse": lambda: eye().to_sparse(),
    "to_sparse_csr": lambda: eye().to_sparse_csr(),
    "sparse_coo_tensor": lambda: torch.sparse_coo_tensor(places(0, 1)[None], eye()[:2], (3, 3)),
    "sparse_coo_tensor of the CPU's": lambda: torch.sparse_coo_tensor(
        torch.tensor([[0]]), torch.ones(1), (2,), device="dl"
    ),
    "sparse_csr_tensor": lambda: torch.sparse_csr_tensor(
        places(0, 1), places(0), torch.ones(1, device="dl"), (1, 1)
    ),
    "moved": lambda: torch.eye(3).to_sparse().to("dl"),
    "moved csr": lambda: torch.eye(3).to_sparse_csr().to("dl"),
    "sparse.mm": lambda: torch.sparse.mm(torch.eye(3).to_sparse(), eye()),
    "Embedding": lambda: gradient(nn.Embedding(5, 3, sparse=True)),
    "EmbeddingBag": lambda: gradient(nn.EmbeddingBag(5, 3, mode="sum", sparse=True)),
}


@pytest.mark.parametrize("make", SPARSE.values(), ids=SPARSE)
def test_sparse_tensors_are_refused_in_our_words(make: Callable[[], object]) -> None:
    with pytest.raises(NotImplementedError, match=r"(?is)\[dl\].*sparse.*CPU") as caught:
        print(make())
    assert "only available for these backends" not in str(caught.value)


def test_quantized_tensors_are_refused_in_our_words() -> None:
    with pytest.raises(NotImplementedError, match=r"\[dl\].*quantized.*CPU"):
        torch.quantize_per_tensor(eye(), 0.1, 0, torch.qint8)


def test_moved_quantized_tensors_are_refused_in_our_words() -> None:
    made = torch.quantize_per_tensor(torch.eye(3), 0.1, 0, torch.qint8)
    with pytest.raises(NotImplementedError, match=r"\[dl\].*quantized.*dequantize"):
        made.to("dl")


def test_nested_tensors_are_refused_in_our_words() -> None:
    nested = torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(1, 3)], device="dl")
    with pytest.raises(NotImplementedError, match=r"\[dl\].*layout=torch\.jagged"):
        nested.sin()


def test_jagged_ones_are_computed() -> None:
    rows = [torch.randn(2, 3), torch.randn(1, 3)]
    nested = torch.nested.nested_tensor(rows, layout=torch.jagged, device="dl")
    assert nested.values().device.type == "dl"
    torch.testing.assert_close(nested.sin().values().cpu(), torch.cat(rows).sin())


def test_dense_embeddings_have_gradients() -> None:
    torch.manual_seed(0)
    weight = torch.randn(5, 3)
    ours = weight.to("dl").requires_grad_()
    theirs = weight.clone().requires_grad_()
    at = torch.tensor([[0, 1], [2, 2]])
    functional.embedding_bag(at.to("dl"), ours, mode="sum").sin().sum().backward()
    functional.embedding_bag(at, theirs, mode="sum").sin().sum().backward()
    assert ours.grad is not None
    torch.testing.assert_close(ours.grad.cpu(), theirs.grad)
