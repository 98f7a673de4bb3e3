"""Segments are split into blocks and merged again; settings and limits are respected."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
import torch

from .processes import RUNS_ONCE, output

MIB = 1 << 20


@pytest.fixture(autouse=True)
def _clean() -> Iterator[None]:
    gc.collect()
    torch.dl.synchronize()
    torch.dl.empty_cache()
    yield
    torch.dl.set_per_process_memory_fraction(1.0)


def megabytes(count: float) -> torch.Tensor:
    return torch.empty(int(count * MIB), dtype=torch.uint8, device="dl")


def test_small_tensors_share_a_segment() -> None:
    before = torch.dl.memory_stats()["segment.all.current"]
    kept = [torch.empty(100, device="dl") for _ in range(1000)]
    assert torch.dl.memory_stats()["segment.all.current"] - before <= 1
    assert len({x.data_ptr() for x in kept}) == 1000


def test_a_freed_block_serves_shorter_ones_and_becomes_whole_again() -> None:
    whole = megabytes(64)
    begin = whole.data_ptr()
    reserved = torch.dl.memory_reserved()
    del whole
    parts = [megabytes(16) for _ in range(4)]
    assert torch.dl.memory_reserved() == reserved
    assert sorted(x.data_ptr() - begin for x in parts) == [0, 16 * MIB, 32 * MIB, 48 * MIB]
    del parts[1], parts[1]  # adjacent blocks
    middle = megabytes(32)
    assert middle.data_ptr() - begin == 16 * MIB, "two that were freed are one"
    del parts, middle
    assert megabytes(64).data_ptr() == begin
    assert torch.dl.memory_reserved() == reserved
    torch.dl.empty_cache()
    assert torch.dl.memory_reserved() == reserved - 64 * MIB


def test_a_block_in_use_keeps_its_segment_and_no_other() -> None:
    whole = megabytes(64)
    del whole
    kept = megabytes(16)
    other = megabytes(48)
    del other
    reserved = torch.dl.memory_reserved()
    torch.dl.empty_cache()
    assert torch.dl.memory_reserved() == reserved
    stats = torch.dl.memory_stats()
    assert stats["inactive_split_bytes.all.current"] >= 48 * MIB
    del kept
    torch.dl.empty_cache()
    assert torch.dl.memory_reserved() == reserved - 64 * MIB


def test_a_part_of_the_memory_may_be_set_as_the_limit() -> None:
    total = torch.dl.mem_get_info()[1]
    allowed = torch.dl.memory_reserved() + 100 * MIB
    torch.dl.set_per_process_memory_fraction(allowed / total)
    assert torch.dl.get_per_process_memory_fraction() == allowed / total
    kept = megabytes(90)
    with pytest.raises(torch.OutOfMemoryError, match="set_per_process_memory_fraction"):
        megabytes(20)
    del kept
    megabytes(98)  # cached memory is freed first
    torch.dl.set_per_process_memory_fraction(1)
    megabytes(120)


@pytest.mark.parametrize("fraction", [-0.1, 1.1, float("nan")])
def test_other_limits_are_refused(fraction: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        torch.dl.set_per_process_memory_fraction(fraction)


def test_raw_blocks_are_counted_and_freed_once() -> None:
    before = torch.dl.memory_allocated()
    address = torch.dl.caching_allocator_alloc(1000)
    assert torch.dl.memory_allocated() - before >= 1000
    torch.dl.caching_allocator_delete(address)
    assert torch.dl.memory_allocated() == before
    with pytest.raises(ValueError, match="not allocated"):
        torch.dl.caching_allocator_delete(address)
    for size in (0, -1):
        with pytest.raises(ValueError, match="cannot be allocated"):
            torch.dl.caching_allocator_alloc(size)


SETTINGS = """
import torch
MIB = 1 << 20

def megabytes(count):
    return torch.empty(int(count * MIB), dtype=torch.uint8, device="dl")
"""


@RUNS_ONCE
def test_long_blocks_are_not_cut_where_the_settings_forbid_it() -> None:
    code = """
whole = megabytes(100)
reserved = torch.dl.memory_reserved()
del whole
part = megabytes(30)
assert torch.dl.memory_reserved() == reserved + {more} * MIB
assert torch.dl.memory_stats()["max_split_size"] == {limit}
"""
    variables = {"DL_VENDORS": "cpu", "PYTORCH_ALLOC_CONF": "max_split_size_mb:50"}
    output(SETTINGS + code.format(more=30, limit=50 * MIB), **variables)
    output(SETTINGS + code.format(more=0, limit=-1), DL_VENDORS="cpu")


@RUNS_ONCE
def test_sizes_are_rounded_to_parts_of_powers_of_two_where_asked_for() -> None:
    code = """
megabytes(1)
x = megabytes(34)
print(torch.dl.memory_allocated() // MIB)
"""
    variables = {"DL_VENDORS": "cpu", "PYTORCH_ALLOC_CONF": "roundup_power2_divisions:4"}
    assert output(SETTINGS + code, **variables) == "40"
    assert output(SETTINGS + code, DL_VENDORS="cpu") == "34"


@RUNS_ONCE
def test_unused_segments_go_back_beyond_the_threshold() -> None:
    code = """
torch.dl.set_per_process_memory_fraction(200 * MIB / torch.dl.mem_get_info()[1])
for _ in range(2):
    del [megabytes(40), megabytes(44)][:]
    megabytes(60)
print(torch.dl.memory_reserved() // MIB <= 150)
"""
    variables = {"DL_VENDORS": "cpu", "PYTORCH_ALLOC_CONF": "garbage_collection_threshold:0.6"}
    assert output(SETTINGS + code, **variables) == "True"
