"""A call that the contract does not allow becomes a host call; the rest stays in graphs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import torch

import dl_dicp.compiled
import dl_dicp.recording.recorder
from dl_dicp import statistics
from dl_dicp.program import refusals
from dl_dicp.recording import calls


@pytest.fixture(autouse=True)
def nothing_learnt() -> Iterator[None]:
    refusals.forget()
    yield
    refusals.forget()


def function(x: torch.Tensor) -> torch.Tensor:
    return x.exp().sin() + 1


def spoil_sines(events: Any, addresses: Any) -> list[calls.Call]:
    """Make the results of sines integers, which the contract does not allow."""
    made = calls.lower(events, addresses)
    for call in made:
        if call.operator == "diopiSin":
            call.arguments["out"] = replace(call.arguments["out"], dtype="int32")
    return made


def test_a_refused_call_is_a_host_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dl_dicp.recording.recorder, "lower", spoil_sines)
    run = torch.compile(function, backend="dl")
    for _ in range(4):
        x = torch.randn(8).to("dl")
        assert torch.equal(run(x).cpu(), function(x).cpu())
    # The first call finds the rejected call; the second one is recorded with a host call.
    assert statistics.host_calls == {"sin": 2}
    assert statistics.graphs == 4
    assert not statistics.eager
    (reason,) = [
        host.reason
        for graph in dl_dicp.compiled.all_graphs
        for variant in graph.variants
        for host in variant.program.hosts
    ]
    assert reason.startswith("the contract does not allow this call: diopiSin: ")
    assert "int32" in reason


def test_a_right_graph_teaches_nothing() -> None:
    run = torch.compile(function, backend="dl")
    for _ in range(2):
        run(torch.randn(8).to("dl"))
    (program,) = [v.program for g in dl_dicp.compiled.all_graphs for v in g.variants]
    assert not refusals.learn(program.regions[0].calls)
    assert all(refusals.why_refused(call) is None for call in program.regions[0].calls)


def test_running_sums_of_bools_are_in_graphs() -> None:
    run = torch.compile(lambda x: (x > 0).cumsum(0) * 2, backend="dl")
    for _ in range(3):
        x = torch.randn(8).to("dl")
        assert torch.equal(run(x).cpu(), (x.cpu() > 0).cumsum(0) * 2)
    assert not statistics.host_calls
    assert statistics.graphs == 2
