"""Layouts that dl does not support are rejected with a remedy."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional

# Torch warns that nested and quantized tensors are prototypes.
pytestmark = pytest.mark.filterwarnings("ignore")


def eye() -> torch.Tensor:
    return torch.eye(3, device="dl")


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
        nested.exp()


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
