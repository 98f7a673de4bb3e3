"""Replays of captured graphs: the work that they save, their memory, and their streams."""

from __future__ import annotations

import gc
import threading
from typing import Any

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
from dl_dicp.engines.device_graph import captured_program
from dl_dicp.reports.explain import explain
from dl_dicp.reports.explain_page import explain_page


@case
def a_replay_is_one_item() -> None:
    compiled = compile_(chain)
    for _ in range(4):
        agrees(compiled, chain, vector())
    x = vector()
    # A copy of the input, the replay, and a copy of the result, instead of twelve calls.
    assert items(lambda: compiled(x)) == 3
    assert items(lambda: chain(x)) == 12
    assert statistics.captures == {"new sizes": 1}
    assert statistics.engine_runs["capture"] == statistics.graphs - 1 == 3
    assert not statistics.dropped and not statistics.eager
    said = "captured 1 times, replayed 3 times; 1 of its 1 inputs are copied"
    assert said in explain() and said in explain_page("x")


@case
def the_executor_is_not_called_for_a_replay() -> None:
    compiled = compile_(chain)
    for _ in range(4):
        agrees(compiled, chain, vector())
    (found,) = programs()
    found._plain = None
    for each in found._replays.values():
        each._program = None
    agrees(compiled, chain, vector())


@case
def results_are_new_tensors() -> None:
    compiled = compile_(lambda x: (x * 2, (x + 1).t()))
    kept = []
    for _ in range(6):
        x = vector(3, 5)
        kept.append((x.cpu(), compiled(x)))
    assert statistics.engine_runs["capture"] >= 4
    for x, (one, other) in kept:
        assert same(one, x * 2) and same(other, (x + 1).t())
        assert other.stride() == (1, 5)
    one.fill_(7)
    agrees(lambda x: compiled(x)[0], lambda x: x * 2, vector(3, 5))


@case
def results_in_one_memory_stay_so() -> None:
    def function(x: Tensor) -> tuple[Tensor, Tensor]:
        rows = x * 2
        return rows[1:], rows[:2].exp()

    compiled = compile_(function)
    for _ in range(5):
        x = vector(4, 6)
        for made, wanted in zip(compiled(x), function(x), strict=True):
            assert same(made, wanted)
    made, _ = compiled(x)
    assert made.storage_offset() == 6
    assert statistics.engine_runs["capture"] >= 3


@case
def gradients_are_those_of_eager_runs() -> None:
    torch.manual_seed(1)
    models = [
        torch.nn.Sequential(
            torch.nn.Linear(8, 16, bias=False), torch.nn.ReLU(), torch.nn.Linear(16, 4, bias=False)
        ).to("dl")
        for _ in range(2)
    ]
    models[1].load_state_dict(models[0].state_dict())
    optimizers = [torch.optim.SGD(model.parameters(), lr=0.1) for model in models]
    compiled = [compile_(models[0]), models[1]]
    for _ in range(7):
        x, losses = vector(4, 8), []
        for run, optimizer in zip(compiled, optimizers, strict=True):
            loss = (run(x) * 0.5).sum()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            losses.append(loss)
        assert same(*losses)
    for one, other in zip(models[0].parameters(), models[1].parameters(), strict=True):
        assert same(one, other)
    assert len([each for each in programs() if each.lines()[0].startswith("captured")]) == 2


@case
def each_part_between_host_calls_is_captured() -> None:
    def function(x: Tensor) -> Tensor:
        return (((x * 2).tanh() + 1).sin() * 3).tanh() * x

    compiled = compile_(function)
    for _ in range(6):
        agrees(compiled, function, vector())
    assert statistics.host_calls["sin"] == 5
    assert len(programs()) == 2
    assert all(each.lines()[0].startswith("captured 1 times") for each in programs())


@case
def each_tuple_of_sizes_is_captured_up_to_a_bound() -> None:
    compiled = compile_(chain, dynamic=True)
    for _ in range(4):
        for size in (4, 5, 6):
            agrees(compiled, chain, vector(size))
    x = vector(5)
    assert statistics.captures == {"new sizes": 3} and items(lambda: compiled(x)) == 3
    for size in range(7, 7 + captured_program.MOST_SIZES):
        for _ in range(3):
            agrees(compiled, chain, vector(size))
    assert statistics.captures == {"new sizes": captured_program.MOST_SIZES}
    (why,) = statistics.dropped
    assert why == ("capture", "there are more than 8 tuples of sizes and streams")
    assert f"not captured for all runs, because {why[1]}" in explain()


@case
def each_stream_has_captures_of_its_own() -> None:
    compiled = compile_(chain)
    agrees(compiled, chain, vector())
    wrong: list[Any] = []

    def work(stream: torch.Stream) -> None:
        with stream:
            for _ in range(20):
                x = vector()
                made = compiled(x)
                if not same(made, chain(x)):
                    wrong.append(stream)

    streams = [torch.Stream(device="dl") for _ in range(2)]
    threads = [threading.Thread(target=work, args=(s,)) for s in (*streams, *streams)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and statistics.captures == {"new sizes": 2}


@case
def each_device_captures_its_own() -> None:
    compiled = compile_(chain)
    for _ in range(5):
        x = torch.randn(8, device="dl:1")
        made = compiled(x)
        assert made.device == x.device and same(made, chain(x))
    assert statistics.engine_runs["capture"] == 3 and not statistics.dropped


@case
def a_capture_of_the_caller_has_the_calls_and_their_memory() -> None:
    compiled, given = compile_(chain), vector(1 << 16)
    graph, stream = torch.accelerator.Graph(), torch.Stream(device="dl")
    with stream:
        for _ in range(4):
            agrees(compiled, chain, vector(1 << 16))
        before = statistics.engine_runs["capture"]
        with graph:
            made = compiled(given)
    assert statistics.engine_runs["capture"] == before > 0
    del compiled
    torch._dynamo.reset()
    gc.collect()
    with stream:
        others = [torch.full((1 << 16,), 9.0, device="dl") for _ in range(16)]
    for start in (0.0, 2.0):
        given.fill_(start)
        torch.dl.synchronize()
        graph.replay()
        assert same(made, chain(given))
    assert all(same(each, others[0]) for each in others)


@case
def a_capture_of_the_caller_on_a_new_stream_has_the_calls() -> None:
    compiled, given = compile_(chain), vector()
    agrees(compiled, chain, vector())
    graph = torch.accelerator.Graph()
    with torch.Stream(device="dl"), graph:
        made = compiled(given)
    assert not same(made, chain(given))
    graph.replay()
    assert same(made, chain(given))


@case
def its_memory_is_there_as_long_as_it_is() -> None:
    compiled = compile_(chain)
    for _ in range(3):
        agrees(compiled, chain, vector(1 << 16))
    torch.dl.empty_cache()
    with torch.Stream(device="dl"):
        others = [torch.full((1 << 16,), 7.0, device="dl") for _ in range(8)]
    torch.dl.synchronize()
    agrees(compiled, chain, vector(1 << 16))
    assert all(torch.equal(each.cpu(), others[0].cpu()) for each in others)


@case
def its_memory_comes_back() -> None:
    torch.dl.synchronize()
    gc.collect()
    before = torch.dl.memory_allocated()
    compiled = compile_(chain)
    for _ in range(4):
        agrees(compiled, chain, vector(1 << 16))
    assert torch.dl.memory_allocated() > before
    del compiled
    torch._dynamo.reset()
    gc.collect()
    assert torch.dl.memory_allocated() <= before


@case
def inference_mode_makes_no_difference() -> None:
    compiled = compile_(chain)
    for inference in (True, False, True, False):
        with torch.inference_mode(inference):
            for _ in range(3):
                agrees(compiled, chain, vector())
    assert statistics.engine_runs["capture"] >= 4 and not statistics.dropped
