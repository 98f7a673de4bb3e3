"""Shifts of an operand with fewer elements than the result."""

from __future__ import annotations

import pytest
import torch

DTYPES = [torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["bitwise_left_shift", "bitwise_right_shift"])
def test_both_operands_of_a_shift_broadcast(name: str, dtype: torch.dtype) -> None:
    values = torch.tensor([[1], [64], [101]], dtype=dtype)
    counts = torch.arange(7, dtype=dtype)
    function = getattr(torch, name)
    expected = function(values, counts)
    assert expected.shape == (3, 7)
    assert torch.equal(function(values.to("dl"), counts.to("dl")).cpu(), expected)
    assert torch.equal(
        function(counts.to("dl"), values.to("dl").clamp(max=6)).cpu(),
        function(counts, values.clamp(max=6)),
    )
