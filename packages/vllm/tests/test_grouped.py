"""Tokens are multiplied by the weights of their experts."""

from __future__ import annotations

import pytest
import torch

from dl_vllm.layers.grouped import run_experts

TOKENS, EXPERTS, CHOSEN, HIDDEN, SIZE = 7, 5, 2, 16, 24


@pytest.mark.parametrize("weigh_input", [False, True])
@pytest.mark.parametrize("with_biases", [False, True])
def test_sums_equal_a_loop_over_tokens(with_biases: bool, weigh_input: bool) -> None:
    x = torch.randn(TOKENS, HIDDEN)
    inner = torch.randn(EXPERTS, 2 * SIZE, HIDDEN)
    outer = torch.randn(EXPERTS, HIDDEN, SIZE)
    weights = torch.rand(TOKENS, CHOSEN)
    # Expert 3 gets no token.
    experts = torch.tensor([[0, 1], [4, 0], [2, 1], [1, 2], [0, 4], [4, 2], [2, 0]])
    biases = (torch.randn(EXPERTS, 2 * SIZE), torch.randn(EXPERTS, HIDDEN))
    used = biases if with_biases else (None, None)
    expected = torch.zeros(TOKENS, HIDDEN, dtype=torch.float64)
    for token in range(TOKENS):
        for weight, expert in zip(weights[token].double(), experts[token].tolist(), strict=True):
            row = x[token].double() * (weight if weigh_input else 1)
            hidden = inner[expert].double() @ row
            if used[0] is not None:
                hidden = hidden + used[0][expert]
            gated = torch.nn.functional.silu(hidden[:SIZE]) * hidden[SIZE:]
            result = outer[expert].double() @ gated
            if used[1] is not None:
                result = result + used[1][expert]
            expected[token] += result * (1 if weigh_input else weight)
    on_device = [tensor.to("dl") for tensor in (x, inner, outer, weights, experts.int())]
    device_biases = tuple(None if bias is None else bias.to("dl") for bias in used)
    found = run_experts(*on_device, torch.nn.functional.silu, device_biases, weigh_input)
    torch.testing.assert_close(found.cpu(), expected.float(), rtol=1e-4, atol=1e-4)
