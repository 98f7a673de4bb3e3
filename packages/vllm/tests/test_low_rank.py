"""Adapters change their own tokens of a batch."""

from __future__ import annotations

import pytest
import torch

from dl_vllm.layers.low_rank import add_adapters

COLUMNS, ROWS, RANK, SCALE = 12, 20, 4, 0.5


@pytest.mark.parametrize("slots", [[0, 1, -1, 1, 0], [-1] * 5, [1] * 5])
def test_each_token_gets_the_product_of_its_adapter(slots: list[int]) -> None:
    x, y = torch.randn(5, COLUMNS), torch.randn(5, ROWS)
    inner, outer = torch.randn(2, 1, RANK, COLUMNS), torch.randn(2, 1, ROWS, RANK)
    expected = y.double()
    for token, slot in enumerate(slots):
        if slot >= 0:
            product = outer[slot, 0].double() @ (inner[slot, 0].double() @ x[token].double())
            expected[token] += SCALE * product
    found = y.to("dl")
    on_device = [tensor.to("dl") for tensor in (x, inner, outer, torch.tensor(slots))]
    add_adapters(found, *on_device, SCALE)
    torch.testing.assert_close(found.cpu(), expected.float(), rtol=1e-4, atol=1e-4)


def test_tokens_without_an_adapter_keep_their_bits() -> None:
    x, y = torch.full((2, COLUMNS), float("inf"), device="dl"), torch.randn(2, ROWS, device="dl")
    inner, outer = (
        torch.ones(1, 1, *shape, device="dl") for shape in ((RANK, COLUMNS), (ROWS, RANK))
    )
    before = y.clone()
    add_adapters(y, x, inner, outer, torch.tensor([-1, -1], device="dl"))
    assert torch.equal(y, before)
