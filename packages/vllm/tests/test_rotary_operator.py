"""The contract's rotary embedding rotates views in place."""

from __future__ import annotations

import pytest
import torch

TOKENS, HEADS, SIZE, ROTATED = 5, 3, 16, 8


@pytest.fixture(autouse=True)
def _operator() -> None:
    operators = torch.ops.dl
    if not hasattr(operators, "has_rotary_embedding") or not operators.has_rotary_embedding(0):
        pytest.skip("the vendor of this device does not have diopiRotaryEmbedding")


@pytest.mark.parametrize("interleaved", [False, True])
def test_the_first_elements_of_each_head_are_rotated(interleaved: bool) -> None:
    # Queries are columns of a wider tensor, as after a joint projection.
    joint = torch.randn(TOKENS, 2 * HEADS * SIZE, device="dl")
    before = joint.cpu()
    angles = torch.rand(TOKENS, 1, ROTATED // 2)
    heads = joint[:, : HEADS * SIZE].view(TOKENS, HEADS, SIZE)[..., :ROTATED]
    cos, sin = angles.cos().to("dl"), angles.sin().to("dl")
    torch.ops.dl.rotary_embedding_(heads, cos, sin, interleaved)
    expected = before.clone()
    target = expected[:, : HEADS * SIZE].view(TOKENS, HEADS, SIZE)
    source = before[:, : HEADS * SIZE].view(TOKENS, HEADS, SIZE)[..., :ROTATED]
    first = slice(0, ROTATED, 2) if interleaved else slice(0, ROTATED // 2)
    second = slice(1, ROTATED, 2) if interleaved else slice(ROTATED // 2, ROTATED)
    a, b = source[..., first], source[..., second]
    target[..., first] = a * angles.cos() - b * angles.sin()
    target[..., second] = a * angles.sin() + b * angles.cos()
    torch.testing.assert_close(joint.cpu(), expected)


def test_an_odd_number_of_elements_is_an_error_that_names_the_operator() -> None:
    tensor, angle = torch.ones(2, 3, device="dl"), torch.ones(2, 1, device="dl")
    with pytest.raises(RuntimeError, match=r"rotary_embedding_.*must be even"):
        torch.ops.dl.rotary_embedding_(tensor, angle, angle, False)
