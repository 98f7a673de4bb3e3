"""The KV cache gets the memory that the model leaves."""

from __future__ import annotations

import pytest

from dl_vllm.memory import cache_bytes


def test_the_model_and_a_batch_are_subtracted() -> None:
    assert cache_bytes(1000, free=800, allocated=200, peak=250, utilization=0.9) == 650


def test_memory_of_other_processes_is_left_alone() -> None:
    assert cache_bytes(1000, free=100, allocated=200, peak=210, utilization=0.9) == 80


def test_a_model_that_leaves_nothing_is_an_error_with_a_remedy() -> None:
    with pytest.raises(ValueError, match=r"a batch needs 100; decrease `max_num_batched_tokens`"):
        cache_bytes(1000, free=50, allocated=900, peak=1000, utilization=0.9)
