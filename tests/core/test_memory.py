"""Memory statistics are exact to the byte, and memory does not grow while a model trains."""

from __future__ import annotations

import gc

import pytest
import torch

from .processes import CONTROL, RUNS_ONCE, VENDORS, output

MIB = 1 << 20


@pytest.fixture(autouse=True)
def _clean() -> None:
    gc.collect()
    torch.dl.synchronize()
    torch.dl.empty_cache()
    torch.dl.reset_peak_memory_stats()


def megabytes(count: int) -> torch.Tensor:
    return torch.empty(count * MIB, dtype=torch.uint8, device="dl")


def test_allocated_memory_goes_up_and_down_exactly() -> None:
    before = torch.dl.memory_allocated()
    x = megabytes(4)
    assert torch.dl.memory_allocated() == before + 4 * MIB
    y = megabytes(8)
    assert torch.dl.memory_allocated() == before + 12 * MIB
    view = x[1:]
    del x
    assert torch.dl.memory_allocated() == before + 12 * MIB, "a view keeps the storage"
    del view, y
    assert torch.dl.memory_allocated() == before


def test_peak_is_the_most_at_any_one_time() -> None:
    before = torch.dl.memory_allocated()
    x = megabytes(4)
    del x
    x = megabytes(2)
    assert torch.dl.max_memory_allocated() == before + 4 * MIB
    torch.dl.reset_peak_memory_stats()
    assert torch.dl.max_memory_allocated() == before + 2 * MIB
    y = megabytes(1)
    assert torch.dl.max_memory_allocated() == before + 3 * MIB
    del x, y


def test_freed_memory_is_used_again_and_given_back_on_request() -> None:
    reserved = torch.dl.memory_reserved()
    x = megabytes(16)
    address = x.data_ptr()
    assert torch.dl.memory_reserved() == reserved + 16 * MIB
    del x
    assert torch.dl.memory_reserved() == reserved + 16 * MIB
    x = megabytes(16)
    assert x.data_ptr() == address
    assert torch.dl.memory_reserved() == reserved + 16 * MIB
    kept = x
    del x
    torch.dl.empty_cache()
    assert torch.dl.memory_reserved() == reserved + 16 * MIB, "memory in use stays"
    del kept
    torch.dl.empty_cache()
    assert torch.dl.memory_reserved() == reserved
    assert torch.dl.max_memory_reserved() == reserved + 16 * MIB


def test_empty_tensors_take_nothing() -> None:
    before = torch.dl.memory_stats()
    kept = [torch.empty(0, device="dl"), torch.empty(3, 0, 2, device="dl")]
    assert kept[1].sum(1).shape == (3, 2)
    del kept
    gc.collect()
    assert torch.dl.memory_allocated() == before["allocated_bytes.all.current"]


def test_small_sizes_are_counted_as_taken_and_as_asked_for() -> None:
    before = torch.dl.memory_stats()
    x = torch.empty(10, device="dl")
    after = torch.dl.memory_stats()
    taken = after["allocated_bytes.all.current"] - before["allocated_bytes.all.current"]
    asked = after["requested_bytes.all.current"] - before["requested_bytes.all.current"]
    assert asked == 40 <= taken <= 512
    assert x.untyped_storage().nbytes() == 40


def test_results_of_the_fallback_are_counted() -> None:
    x = torch.ones(MIB, device="dl")
    before = torch.dl.memory_allocated()
    torch.dl.set_force_fallback(["exp"])
    try:
        y = x.exp()
    finally:
        torch.dl.set_force_fallback([])
    assert torch.dl.memory_allocated() == before + 4 * MIB
    assert torch.dl.memory_reserved() >= torch.dl.memory_allocated()
    view = y[:1]
    del y
    assert torch.dl.memory_allocated() == before + 4 * MIB
    del view
    assert torch.dl.memory_allocated() == before


def test_training_does_not_grow() -> None:
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Linear(16, 32), torch.nn.GELU(), torch.nn.Dropout(0.1), torch.nn.Linear(32, 4)
    ).to("dl")
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    data = torch.randn(8, 16, device="dl")
    sizes = []
    for step in range(110):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(data), torch.arange(8, device="dl") % 4)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step >= 10:
            sizes.append((torch.dl.memory_allocated(), torch.dl.memory_reserved()))
    assert len(set(sizes)) == 1


def test_exceptions_and_cycles_keep_no_memory() -> None:
    before = torch.dl.memory_allocated()
    x = megabytes(1).float()
    with pytest.raises(RuntimeError):
        x @ x[: MIB // 2]
    with pytest.raises(RuntimeError):
        x.view(7, -1)
    with pytest.raises(IndexError):
        x[MIB]
    del x
    gc.collect()
    assert torch.dl.memory_allocated() == before


def test_accelerator_names_agree() -> None:
    x = megabytes(3)
    for name in ("memory_allocated", "memory_reserved", "max_memory_allocated"):
        assert getattr(torch.accelerator, name)() == getattr(torch.dl, name)() > 0
    assert torch.accelerator.max_memory_reserved() == torch.dl.max_memory_reserved()
    assert dict(torch.accelerator.memory_stats()) == torch.dl.memory_stats()
    del x
    torch.accelerator.empty_cache()
    torch.accelerator.reset_peak_memory_stats()
    assert torch.dl.max_memory_allocated() == torch.dl.memory_allocated()
    torch.accelerator.reset_accumulated_memory_stats()
    assert torch.dl.memory_stats()["allocation.all.allocated"] == 0


@RUNS_ONCE
@pytest.mark.parametrize("vendor", VENDORS)
def test_each_device_counts_its_own_memory(vendor: str) -> None:
    code = """
import torch
before = torch.dl.memory_allocated(0)
x = torch.empty(1 << 20, dtype=torch.uint8, device="dl:1")
assert torch.dl.memory_allocated(0) == before and torch.dl.memory_allocated(1) == 1 << 20
with torch.dl.device(1):
    assert torch.dl.memory_allocated() == torch.accelerator.memory_allocated() == 1 << 20
"""
    output(code, DL_VENDORS=vendor, DL_CPU_DEVICES="2")


@RUNS_ONCE
def test_counts_are_those_of_the_vendor() -> None:
    """Reserved bytes are those that the vendor allocated; free bytes are those that it has left."""
    code = f"""
import torch
{CONTROL}
x = torch.empty(5 << 20, dtype=torch.uint8, device="dl")
y = torch.empty(3 << 20, dtype=torch.uint8, device="dl")
del y
assert torch.dl.memory_reserved() == control.counters().live_bytes == 8 << 20
free, total = torch.dl.mem_get_info()
assert (free, total) == torch.accelerator.get_memory_info("dl:0") == ((56 << 20), (64 << 20))
torch.dl.empty_cache()
assert torch.dl.memory_reserved() == control.counters().live_bytes == 5 << 20
assert torch.dl.mem_get_info()[0] == 59 << 20
del x
torch.dl.empty_cache()
assert control.counters().live_bytes == control.counters().live_allocations == 0
"""
    output(code, DL_VENDORS="async", DL_ASYNC_TEST_MEMORY=str(64 * MIB))
