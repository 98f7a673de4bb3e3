"""Cases that are not captured, or whose captures are not used, with the reasons."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest import mock

import torch
from torch import Tensor

from capture_kit import (
    agrees,
    case,
    chain,
    check,
    compile_,
    declined,
    lie,
    same,
    vector,
)
from dl_dicp import statistics
from dl_dicp.engines.device_graph import recording, replays


@case
def what_the_vendor_refuses_runs_plainly() -> None:
    def refuse(self: Any) -> None:
        raise RuntimeError("no more graphs\nat all")

    with mock.patch.object(torch.accelerator.Graph, "capture_begin", refuse):
        assert declined(chain) == "it cannot be captured: no more graphs"
    assert not statistics.engine_runs and statistics.graphs == 4


@case
def what_fails_in_a_capture_leaves_streams_that_run() -> None:
    right = recording.record_graph

    def waiting(device: torch.device, run: Callable[[], Any], pool: Any) -> Any:
        return right(device, lambda: (run(), torch.ones(4, device="dl").cpu()), pool)

    with mock.patch.object(replays, "record_graph", waiting):
        assert "a copy to the host" in declined(chain)
    compiled = compile_(lambda x: chain(x) * 2)
    for _ in range(5):
        agrees(compiled, lambda x: chain(x) * 2, vector())
    assert statistics.engine_runs["capture"] >= 3


@case
def a_replay_that_fails_is_a_plain_run() -> None:
    def fail(self: Any) -> None:
        raise RuntimeError("the device is gone")

    with mock.patch.object(torch.accelerator.Graph, "replay", fail):
        assert declined(chain) == "a replay failed: the device is gone"


@lie
def a_replay_that_differs_is_never_used() -> None:
    assert declined(chain) == "value 0 of its replay differs from that of the executor"
    assert statistics.captures == {"new sizes": 1} and statistics.engine_runs["capture"] == 1


@lie
def a_replay_that_differs_has_written_nothing_wrong() -> None:
    def function(state: Tensor, x: Tensor) -> None:
        state.mul_(0.5).add_(x)

    compiled = compile_(function)
    state, wanted = torch.zeros(8, device="dl"), torch.zeros(8, device="dl")
    for _ in range(5):
        x = vector()
        compiled(state, x)
        function(wanted, x)
        assert same(state, wanted)
    assert statistics.dropped


@lie
def without_the_check_it_is_used() -> None:
    compiled = compile_(chain, check=False)
    right = []
    for _ in range(5):
        x = vector()
        right.append(same(compiled(x), chain(x)))
    assert not all(right) and not statistics.dropped


@check
def nothing_is_captured_while_memory_is_checked() -> None:
    assert "DL_MEM_CHECK" in declined(chain)
