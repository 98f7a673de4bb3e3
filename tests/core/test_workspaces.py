"""Scratch memory that operators request from the host: it is cached and freed, and a failed
allocation is retried after cached memory was freed."""

from __future__ import annotations

from .processes import RUNS_ONCE, output

pytestmark = RUNS_ONCE

# The matrix product of vendor onefile accumulates in a workspace of the size of the result.
VENDOR = {"DL_VENDORS": "onefile", "SIM_MEMORY": str(64 << 20)}

PREPARE = """
import torch
MIB = 1 << 20
def megabytes(count):
    return torch.empty(count * MIB, dtype=torch.uint8, device="dl")
left, right = torch.ones(1024, 1).to("dl"), torch.ones(1, 2048).to("dl")
out = torch.empty(1024, 2048, device="dl")  # 8 MiB
torch.dl.synchronize()
"""


def test_a_workspace_is_cached_and_lives_as_long_as_its_call() -> None:
    code = f"""{PREPARE}
allocated = torch.dl.memory_allocated()
with torch.dl.fallback("error"):
    torch.mm(left, right, out=out)
    stats = torch.dl.memory_stats()
    assert stats["allocated_bytes.all.peak"] >= allocated + 8 * MIB
    assert torch.dl.memory_allocated() == allocated
    for _ in range(10):
        torch.mm(left, right, out=out)
assert torch.dl.memory_stats()["num_device_alloc"] == stats["num_device_alloc"]
assert torch.equal(out.cpu(), torch.ones(1024, 2048))
"""
    output(code, **VENDOR)


def test_memory_that_is_cached_makes_room_for_a_workspace() -> None:
    code = f"""{PREPARE}
torch.dl.empty_cache()
kept = megabytes(20)
# With `out`, 58 of 64 MiB are taken; no cached block has the 8 MiB of a workspace.
cached = [megabytes(6) for _ in range(5)]
del cached
assert torch.dl.mem_get_info()[0] < 8 * MIB
with torch.dl.fallback("error"):
    torch.mm(left, right, out=out)
stats = torch.dl.memory_stats()
assert stats["num_alloc_retries"] == 1 and stats["num_ooms"] == 0
assert torch.equal(out.cpu(), torch.ones(1024, 2048))
"""
    output(code, **VENDOR)


def test_without_room_for_a_workspace_a_call_raises_out_of_memory() -> None:
    code = f"""{PREPARE}
torch.dl.empty_cache()
kept = megabytes(50)
allocated = torch.dl.memory_allocated()
for _ in range(2):
    try:
        torch.mm(left, right, out=out)
        raise AssertionError("there was room")
    except torch.OutOfMemoryError as error:
        print(error)
assert torch.dl.memory_allocated() == allocated
assert torch.dl.memory_stats()["num_ooms"] == 2
assert torch.dl.fallback_stats().totals["fallback"] == 0
del kept
with torch.dl.fallback("error"):
    torch.mm(left, right, out=out)
assert torch.equal(out.cpu(), torch.ones(1024, 2048))
"""
    said = output(code, **VENDOR)
    assert said.count("Tried to allocate 8.00 MiB") == 2
    assert said.count("out of memory") >= 2
