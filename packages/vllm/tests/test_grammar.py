"""Masks of structured output reach the rows of their requests."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from dl_vllm.grammar import forbid, rows_of

VOCABULARY = 70


def _masks(allowed: list[set[int]]) -> np.ndarray[tuple[int, int], np.dtype[np.int32]]:
    words = np.zeros((len(allowed), 3), dtype=np.uint32)
    for row, tokens in enumerate(allowed):
        for token in tokens:
            words[row, token // 32] |= np.uint32(1) << np.uint32(token % 32)
    return words.view(np.int32)


@pytest.mark.parametrize("rows", [[0, 1, 2], [2, 0], [1]])
def test_only_allowed_tokens_keep_their_logits(rows: list[int]) -> None:
    allowed = [{0, 31, 63}, {32, 69}, {5}][: len(rows)]
    logits = torch.randn(3, VOCABULARY, device="dl")
    expected = logits.cpu()
    for row, tokens in zip(rows, allowed, strict=True):
        hidden = [token for token in range(VOCABULARY) if token not in tokens]
        expected[row, hidden] = float("-inf")
    forbid(logits, rows, _masks(allowed))
    torch.testing.assert_close(logits.cpu(), expected, rtol=0, atol=0)


def test_requests_are_found_in_any_order_and_with_drafts() -> None:
    drafts = {"b": [7, 8]}
    assert rows_of(["a", "b", "c"], ["c", "gone", "b"], drafts) == ([4, 1, 2, 3], [0, 2, 3, 4])
