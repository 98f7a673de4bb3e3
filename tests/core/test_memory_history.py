"""What the allocator did and holds, as torch.cuda's tools for it expect to read it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch

MIB = 1 << 20


@pytest.fixture(autouse=True)
def _recording() -> Iterator[None]:
    torch.dl.synchronize()
    torch.dl.empty_cache()
    torch.dl._record_memory_history(stacks="python")
    yield
    torch.dl._record_memory_history(None)


def events() -> list[dict[str, Any]]:
    trace: list[dict[str, Any]] = torch.dl._snapshot()["device_traces"][0]
    return trace


def test_events_come_in_order_with_the_lines_that_caused_them() -> None:
    x = torch.empty(16 * MIB, dtype=torch.uint8, device="dl")
    address = x.data_ptr()
    del x
    torch.dl.empty_cache()
    trace = [e for e in events() if e["addr"] == address and e["size"] == 16 * MIB]
    assert [e["action"] for e in trace] == [
        "segment_alloc",
        "alloc",
        "free_requested",
        "free_completed",
        "segment_free",
    ]
    assert [e["time_us"] for e in trace] == sorted(e["time_us"] for e in trace)
    assert (
        trace[1]["frames"][0]["name"] == "test_events_come_in_order_with_the_lines_that_caused_them"
    )
    assert trace[1]["frames"][0]["filename"] == __file__
    assert trace[2]["frames"][0]["line"] == trace[1]["frames"][0]["line"] + 2


def test_blocks_fill_their_segments_and_add_up_to_the_counters() -> None:
    kept = [torch.empty(size, device="dl") for size in (1, 1000, 300_000, 2_000_000)]
    middle = torch.empty(500_000, device="dl")
    kept.append(torch.empty(500_000, device="dl"))
    del middle
    snapshot = torch.dl._snapshot()
    for segment in snapshot["segments"]:
        place = segment["address"]
        for block in segment["blocks"]:
            assert block["address"] == place
            place += block["size"]
        assert place == segment["address"] + segment["total_size"]
    blocks = [b for segment in torch.dl.memory_snapshot() for b in segment["blocks"]]
    used = {b["address"]: b for b in blocks if b["state"] == "active_allocated"}
    for x in kept:
        assert used[x.data_ptr()]["requested_size"] == x.nbytes <= used[x.data_ptr()]["size"]
        assert used[x.data_ptr()]["frames"][0]["filename"] == __file__
    stats = torch.dl.memory_stats()
    segments = snapshot["segments"]
    assert sum(s["total_size"] for s in segments) == stats["reserved_bytes.all.current"]
    assert len(segments) == stats["segment.all.current"]
    assert sum(s["allocated_size"] for s in segments) <= stats["allocated_bytes.all.current"]


def test_only_the_last_events_are_kept() -> None:
    torch.dl._record_memory_history(max_entries=5, stacks="none")
    for _ in range(10):
        torch.empty(100, device="dl")
    assert len(events()) == 5
    assert events()[-1]["frames"] == []


def test_what_was_recorded_outlives_the_end_of_recording() -> None:
    torch.empty(100, device="dl")
    torch.dl._record_memory_history(None)
    before = len(events())
    torch.empty(100, device="dl")
    assert len(events()) == before > 0
    torch.dl._record_memory_history()
    assert events() == []


@pytest.mark.parametrize(
    ("options", "said"),
    [({"stacks": "some"}, "'some' is not one of"), ({"max_entries": 0}, "max_entries=0")],
)
def test_wrong_options_are_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        torch.dl._record_memory_history(**options)
