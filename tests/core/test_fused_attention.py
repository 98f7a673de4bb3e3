"""Results of fused attention other than its output, and its errors."""

from __future__ import annotations

import pytest
import torch


def test_a_generator_that_draws_nothing_has_a_defined_state() -> None:
    """The state is not uninitialized memory: two calls give the same state."""
    query = torch.randn(2, 2, 8, 16, device="dl")
    fused = torch.ops.aten._scaled_dot_product_fused_attention_overrideable
    for _ in range(4):
        dirty = [torch.full((), -1) for _ in range(64)]
        del dirty
        *_, seed, offset, _ = fused(query, query, query)
        assert seed.item() == offset.item() == 0


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ((5, 8), (6, 8), "key has 5 rows and value 6"),
        ((5, 9), (5, 9), "each row of query has 8 elements and each row of key 9"),
    ],
)
@pytest.mark.parametrize("batch", [(), (3,), (2, 4)])
def test_sizes_that_do_not_fit_are_named(
    key: tuple[int, int], value: tuple[int, int], message: str, batch: tuple[int, ...]
) -> None:
    arguments = [torch.randn(*batch, *sizes, device="dl") for sizes in ((3, 8), key, value)]
    with pytest.raises(RuntimeError, match=f"scaled_dot_product_attention: {message}"):
        torch.nn.functional.scaled_dot_product_attention(*arguments)
