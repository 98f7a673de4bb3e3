"""History and state of the allocator, in the form that torch.cuda's tools expect."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.cuda._memory_viz

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
    torch.dl.memory._record_memory_history(context=None, max_entries=5)
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


def test_the_signatures_are_those_of_torch() -> None:
    for name in ("_record_memory_history", "_snapshot", "_dump_snapshot"):
        ours, torchs = (getattr(m, name) for m in (torch.dl.memory, torch.cuda.memory))
        defaults = [
            {p.name: p.default for p in inspect.signature(each).parameters.values()}
            for each in (ours, torchs)
        ]
        assert defaults[0] == defaults[1] and defaults[0]


def stacks(action: str, **options: Any) -> list[bool]:
    """Return which events of an action have stacks when a tensor is created and freed."""
    torch.dl.memory._record_memory_history(clear_history=True, stacks="python", **options)
    torch.empty(100, device="dl")
    return [len(e["frames"]) > 0 for e in events() if e["action"] == action]


@pytest.mark.parametrize(
    ("context", "allocated", "freed"),
    [(None, False, False), ("state", False, False), ("alloc", True, False), ("all", True, True)],
)
def test_the_context_says_which_events_have_stacks(
    context: str | None, allocated: bool, freed: bool
) -> None:
    assert stacks("alloc", context=context) == [allocated]
    assert stacks("free_requested", context=context) == [freed]
    kept = torch.empty(100, device="dl")
    (block,) = (
        b
        for segment in torch.dl.memory_snapshot()
        for b in segment["blocks"]
        if b["address"] == kept.data_ptr() and b["state"] == "active_allocated"
    )
    assert bool(block["frames"]) == (context is not None)


def test_the_state_alone_has_no_history() -> None:
    torch.dl.memory._record_memory_history("state", clear_history=True)
    torch.empty(100, device="dl")
    assert events() == []


def test_skipped_actions_are_not_recorded() -> None:
    torch.dl.memory._record_memory_history(
        clear_history=True, skip_actions=["free_requested", "free_completed"]
    )
    torch.empty(100, device="dl")
    assert {e["action"] for e in events()} <= {"alloc", "segment_alloc"} and events()


def test_options_can_change_while_events_are_kept() -> None:
    torch.empty(100, device="dl")
    before = events()
    torch.dl.memory._record_memory_history(context=None)
    assert events() == before != []
    torch.dl.memory._record_memory_history(clear_history=True)
    assert events() == []


def test_the_older_form_with_booleans_works() -> None:
    torch.dl.memory._record_memory_history(False)
    torch.dl.memory._record_memory_history(
        True, trace_alloc_max_entries=4, trace_alloc_record_context=True
    )
    for _ in range(5):
        torch.empty(100, device="dl")
    assert len(events()) == 4 and events()[0]["frames"]


def test_a_dumped_snapshot_is_read_by_torchs_viewer(tmp_path: Path) -> None:
    kept = torch.empty(3 * MIB, dtype=torch.uint8, device="dl")
    torch.empty(100, device="dl")
    torch.dl.memory._dump_snapshot(str(tmp_path / "memory.pickle"))
    with (tmp_path / "memory.pickle").open("rb") as file:
        snapshot = pickle.load(file)
    viewer = torch.cuda._memory_viz
    assert "alloc" in {e["action"] for e in snapshot["device_traces"][0]}
    assert f"{kept.nbytes / MIB:.1f}MiB" in viewer.trace(snapshot)
    assert "segments:" in viewer.segsum(snapshot)
    assert "snapshot.pickle" in viewer.trace_plot(snapshot)
    assert "snapshot.pickle" in viewer.segment_plot(snapshot)
    lines: list[str] = []
    viewer.memory(snapshot, format_flamegraph=lines.append)
    assert "test_a_dumped_snapshot_is_read_by_torchs_viewer" in lines[0]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"stacks": "some"}, "stacks='some' is not one of python, all"),
        ({"context": "some"}, "context='some' is not one of state, alloc, all"),
        ({"enabled": "some"}, "enabled='some' is not one of state, all"),
        ({"skip_actions": ["some"]}, "skip_actions='some' is not one of alloc, free_requested"),
        ({"max_entries": 0}, "max_entries=0"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        torch.dl._record_memory_history(**options)
