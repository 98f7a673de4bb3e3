"""Attention with each variation agrees with its definition in float64."""

from __future__ import annotations

import pytest
import torch

from dl_vllm.attention.masks import decode_mask, prefill_mask
from dl_vllm.attention.product import Scores, attend

HEADS, KEY_HEADS, SIZE, SCALE = 4, 2, 16, 0.3


def _expected(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, scores: Scores, visible: list[int]
) -> torch.Tensor:
    """Return the attention of one query [H, D] to the visible keys [Hₖ, T, D]."""
    rows = []
    for head in range(HEADS):
        source = head // (HEADS // KEY_HEADS)
        chosen = key[source, visible].double()
        products = chosen @ query[head].double() * scores.scale
        if scores.cap:
            products = torch.tanh(products / scores.cap) * scores.cap
        if scores.slopes is not None:
            distance = torch.tensor([position - visible[-1] for position in visible])
            products = products + scores.slopes[head].double().cpu() * distance
        rows.append(products.softmax(0) @ value[source, visible].double())
    return torch.stack(rows)


def _variations() -> dict[str, Scores]:
    slopes = torch.tensor([0.5, 0.25, 0.125, 0.0625], device="dl")
    return {
        "plain": Scores(SCALE),
        "capped": Scores(SCALE, cap=2.0),
        "alibi": Scores(SCALE, slopes=slopes),
    }


@pytest.mark.parametrize("variation", ["plain", "capped", "alibi"])
@pytest.mark.parametrize("window", [None, 3])
def test_last_tokens_attend_to_their_own_sequences(variation: str, window: int | None) -> None:
    scores = _variations()[variation]
    lengths = [5, 9, 1]
    query = torch.randn(3, HEADS, 1, SIZE, device="dl")
    key, value = torch.randn(2, 3, KEY_HEADS, 12, SIZE, device="dl")
    mask = decode_mask(torch.tensor(lengths, device="dl"), 12, window)
    found = attend(query, key, value, scores, mask)
    for index, length in enumerate(lengths):
        visible = list(range(max(0, length - (window or length)), length))
        arguments = (tensor[index].cpu() for tensor in (query[:, :, 0], key, value))
        expected = _expected(*arguments, scores, visible)
        torch.testing.assert_close(found[index, :, 0].cpu(), expected.float(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("variation", ["plain", "capped", "alibi"])
@pytest.mark.parametrize(("queries", "window"), [(8, None), (3, None), (8, 2), (3, 4)])
def test_parts_of_prompts_are_causal(variation: str, queries: int, window: int | None) -> None:
    scores = _variations()[variation]
    tokens = 8
    query = torch.randn(1, HEADS, queries, SIZE, device="dl")
    key, value = torch.randn(2, 1, KEY_HEADS, tokens, SIZE, device="dl")
    whole = queries == tokens and window is None
    mask = None if whole else prefill_mask(queries, tokens, window, query.device)
    found = attend(query, key, value, scores, mask)
    for place in range(queries):
        last = tokens - queries + place
        visible = list(range(max(0, last + 1 - (window or tokens)), last + 1))
        arguments = (query[0, :, place].cpu(), key[0].cpu(), value[0].cpu())
        expected = _expected(*arguments, scores, visible)
        torch.testing.assert_close(found[0, :, place].cpu(), expected.float(), rtol=1e-4, atol=1e-5)
