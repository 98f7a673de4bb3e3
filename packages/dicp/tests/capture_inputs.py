"""Inputs of captured graphs: some are read in place, the others are copied."""

from __future__ import annotations

import warnings
from unittest import mock

import torch
from torch import Tensor

from capture_kit import (
    agrees,
    case,
    chain,
    compile_,
    items,
    programs,
    same,
    vector,
)
from dl_dicp import statistics
from dl_dicp.engines.device_graph import copies, input_stability, replays
from dl_dicp.reports.explain import explain


@case
def parameters_are_read_where_they_are() -> None:
    model = torch.nn.Sequential(
        torch.nn.Linear(8, 8, bias=False), torch.nn.ReLU(), torch.nn.Linear(8, 8, bias=False)
    ).to("dl")
    compiled = compile_(model)
    with torch.no_grad():
        for _ in range(4):
            agrees(compiled, model, vector(4, 8))
        for parameter in model.parameters():
            parameter.mul_(-2)
        agrees(compiled, model, vector(4, 8))
        model[0].weight.data = vector(8, 8)
        for _ in range(3):
            agrees(compiled, model, vector(4, 8))
    assert "; 1 of its 3 inputs are copied" in explain()


@case
def inputs_that_move_are_copied_from_then_on() -> None:
    compiled = compile_(chain)
    x = vector()
    for _ in range(4):
        agrees(compiled, chain, x)
    assert items(lambda: compiled(x)) == 2
    assert "; 0 of its 1 inputs are copied" in explain()
    for _ in range(4):
        agrees(compiled, chain, vector())
    assert "captured 1 times" in explain() and "; 1 of its 1 inputs are copied" in explain()
    agrees(compiled, chain, x)


@case
def layers_that_share_a_graph_are_captured_each() -> None:
    layers = [torch.nn.Linear(8, 8, bias=False).to("dl") for _ in range(3)]
    compiled = compile_(lambda x, w: (x @ w).relu())
    for _ in range(4):
        x = vector(4, 8)
        for layer in layers:
            weight = layer.weight.detach()
            agrees(lambda x, w=weight: compiled(x, w), lambda x, w=weight: (x @ w).relu(), x)
            x = compiled(x, weight)
    (found,) = programs()
    assert "captured 3 times" in found.lines()[0]
    assert "; 1 of its 2 inputs are copied" in found.lines()[0]


@case
def more_addresses_than_are_captured_run_plainly() -> None:
    compiled = compile_(chain)
    given = [vector() for _ in range(4)]
    with mock.patch.object(replays, "MOST_ADDRESSES", 2):
        for _ in range(4):
            for x in given:
                agrees(compiled, chain, x)
    assert "captured 2 times" in explain()
    (why,) = statistics.dropped
    assert why == ("capture", "there are inputs at more than 2 addresses") and why[1] in explain()


@case
def inputs_that_all_live_on_are_copied_in_the_end() -> None:
    compiled = compile_(chain)
    kept = []
    with mock.patch.object(input_stability, "PATIENCE", 3):
        for _ in range(8):
            kept.append(vector())
            agrees(compiled, chain, kept[-1])
    assert "; 1 of its 1 inputs are copied" in explain()


@case
def mutations_reach_the_arguments() -> None:
    def function(state: Tensor, x: Tensor) -> Tensor:
        state.mul_(0.5).add_(x)
        return state * 2

    compiled = compile_(function)
    state, wanted = torch.zeros(8, device="dl"), torch.zeros(8, device="dl")
    for _ in range(6):
        x = vector()
        assert same(compiled(state, x), function(wanted, x)) and same(state, wanted)
    assert "; 1 of its 2 inputs are copied" in explain()
    for _ in range(6):  # now with another tensor each time
        x, state = vector(), vector()
        wanted = state.clone()
        assert same(compiled(state, x), function(wanted, x)) and same(state, wanted)
    assert "; 2 of its 2 inputs are copied" in explain()


@case
def expanded_inputs_are_copied() -> None:
    compiled = compile_(lambda x: x * 2 + 1)
    for _ in range(5):
        x = vector(1, 6).expand(4, 6)
        agrees(compiled, lambda x: x * 2 + 1, x)
    assert statistics.engine_runs["capture"] >= 3


@case
def inputs_far_into_their_storage_are_not_copied() -> None:
    function, compiled = chain, compile_(chain)
    with warnings.catch_warnings(record=True):
        for _ in range(5):
            agrees(compiled, function, vector(1 << 19)[-8:])
    ((_, why),) = statistics.dropped
    assert "a transient input has an offset of" in why and not statistics.engine_runs


@case
def results_that_have_no_room_leave_arguments_as_they_are() -> None:
    def function(state: Tensor, x: Tensor) -> Tensor:
        state.add_(x)
        return state * 2

    compiled = compile_(function)
    state, wanted = torch.zeros(8, device="dl"), torch.zeros(8, device="dl")
    for _ in range(4):
        x = vector()
        assert same(compiled(state, x), function(wanted, x))
    with mock.patch.object(copies.Outputs, "memory", side_effect=MemoryError("full")):
        try:
            compiled(state, x)
        except MemoryError:
            assert same(state, wanted)
        else:
            raise AssertionError("it was not replayed")
