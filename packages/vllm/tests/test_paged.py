"""The contract's paged attention agrees with attention over a gathered cache."""

from __future__ import annotations

import pytest
import torch

from dl_vllm.attention.cache import gather
from dl_vllm.attention.masks import decode_mask
from dl_vllm.attention.paged import attend_pages, is_available
from dl_vllm.attention.product import Scores, attend

BLOCKS, KEY_HEADS, HEADS, BLOCK_SIZE, SIZE = 9, 2, 6, 4, 16
LENGTHS = [5, 12, 1]
TABLE = [[7, 2, 0], [1, 8, 5], [3, 0, 0]]


@pytest.fixture(autouse=True)
def _operator() -> None:
    if not is_available(torch.device("dl", 0)):
        pytest.skip("the vendor of this device does not have diopiPagedAttention")


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("window", [None, 3])
@pytest.mark.parametrize("scale", [SIZE**-0.5, 0.7])
def test_pages_are_read_in_place(dtype: torch.dtype, window: int | None, scale: float) -> None:
    cache = torch.randn(BLOCKS, KEY_HEADS, BLOCK_SIZE, 2 * SIZE, device="dl", dtype=dtype)
    query = torch.randn(3, HEADS, SIZE, device="dl", dtype=dtype)
    table = torch.tensor(TABLE, device="dl", dtype=torch.int32)
    mask = decode_mask(torch.tensor(LENGTHS, device="dl"), 12, window)
    hidden = None if window is None else ~mask[:, 0, 0]
    found = attend_pages(query, cache, LENGTHS, table * 2, hidden, scale)
    expected = attend(query.unsqueeze(2), *gather(cache, table), Scores(scale), mask).squeeze(2)
    tolerance = 1e-5 if dtype == torch.float32 else 2e-2
    torch.testing.assert_close(found, expected, rtol=tolerance, atol=tolerance)


def test_a_missing_length_is_an_error_that_names_the_operator() -> None:
    cache = torch.zeros(BLOCKS, KEY_HEADS, BLOCK_SIZE, 2 * SIZE, device="dl")
    query = torch.zeros(3, HEADS, SIZE, device="dl")
    table = torch.tensor(TABLE, device="dl", dtype=torch.int32)
    with pytest.raises(RuntimeError, match=r"paged_attention.* 2 lengths for 3 sequences"):
        attend_pages(query, cache, LENGTHS[:2], table * 2, None, 1.0)
