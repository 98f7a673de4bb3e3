"""Attention can be exported with symbolic sizes."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention

# Torch warns about parts of its own compiler.
pytestmark = pytest.mark.filterwarnings("ignore")


def attend(q: torch.Tensor) -> torch.Tensor:
    return scaled_dot_product_attention(q, q, q, is_causal=True)


def attend_masked(q: torch.Tensor) -> torch.Tensor:
    mask = torch.ones(q.shape[-2], q.shape[-2], dtype=torch.bool, device=q.device).tril()
    return scaled_dot_product_attention(q, q, q, attn_mask=mask)


@pytest.mark.parametrize("function", [attend, attend_masked])
def test_attention_is_compiled_for_changing_lengths(
    function: object,
) -> None:
    torch._dynamo.reset()
    compiled = torch.compile(function, backend="aot_eager", dynamic=True)
    for length in (5, 6, 9):
        q = torch.randn(2, 2, length, 4)
        torch.testing.assert_close(compiled(q.to("dl")).cpu(), compiled(q), rtol=1e-5, atol=1e-5)


class Attention(nn.Module):
    def forward(self, q: torch.Tensor) -> torch.Tensor:
        return attend(q)


def test_attention_is_exported_for_any_length() -> None:
    length = torch.export.Dim("length", min=2, max=64)
    q = torch.randn(2, 2, 7, 4)
    program = torch.export.export(Attention(), (q.to("dl"),), dynamic_shapes=({2: length},))
    other = torch.randn(2, 2, 11, 4)
    torch.testing.assert_close(program.module()(other.to("dl")).cpu(), attend(other))
