"""Programs with an injected fault: they are not used, and the caller's results are right.

Each fault is injected into the record of a run or into the graph that is built from the record. The
verifier rejects some; others are detected when the new program is checked on copies.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch

import dl_dicp.compiled
import dl_dicp.program.compiled_program
import dl_dicp.program.document
import dl_dicp.recording.recorder
from dl_dicp import statistics
from dl_dicp.program import refusals
from dl_dicp.recording import calls
from dl_dicp.recording.memory import Block, Ref

Plant = Callable[[pytest.MonkeyPatch], None]


def model(x: torch.Tensor, y: torch.Tensor, counts: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Use a mutated argument, views, random numbers, a constant and reused temporaries."""
    counts.add_(1)
    left, right = x[:, 1:4], x[:, 4:7]
    mixed = torch.sub(left @ y, right.exp(), alpha=2)
    kept = torch.nn.functional.dropout(mixed.tanh(), 0.5)
    other = torch.nn.functional.dropout(mixed.sin(), 0.25)
    return kept * torch.tensor([3.0, 1.0, 2.0]).to(x.device) + other, mixed.sum(0)


def inputs(seed: int) -> list[torch.Tensor]:
    numbers = torch.Generator().manual_seed(seed)
    shapes = ((4, 8), (3, 3), (5,))
    return [torch.randn(shape, generator=numbers).to("dl") for shape in shapes]


def run(function: Any, seed: int) -> list[torch.Tensor]:
    """Return results and arguments, on the host."""
    given = inputs(seed)
    torch.manual_seed(seed)
    return [x.cpu() for x in (*function(*given), *given)]


def in_calls(change: Callable[[list[calls.Call]], list[calls.Call]]) -> Plant:
    """Return a fault in the recorded calls of one operator."""

    def plant(patch: pytest.MonkeyPatch) -> None:
        right = dl_dicp.recording.recorder.lower
        patch.setattr(dl_dicp.recording.recorder, "lower", lambda *given: change(right(*given)))

    return plant


def in_one(operator: str, change: Callable[[calls.Call], list[calls.Call]]) -> Plant:
    """Return a fault in each call of an operator."""

    def changed(made: list[calls.Call]) -> list[calls.Call]:
        return [new for c in made for new in (change(c) if c.operator == operator else [c])]

    return in_calls(changed)


def with_argument(operator: str, name: str, change: Callable[[Any], Any]) -> Plant:
    def one(call: calls.Call) -> list[calls.Call]:
        return [calls.Call(operator, {**call.arguments, name: change(call.arguments[name])})]

    return in_one(operator, one)


def swapped(call: calls.Call) -> list[calls.Call]:
    given = call.arguments
    changed = {**given, "input": given["other"], "other": given["input"]}
    return [calls.Call(call.operator, changed)]


def draw_twice(made: list[calls.Call]) -> list[calls.Call]:
    return [c for c in made for _ in range(1 + (calls.GENERATOR in c.arguments.values()))]


def in_trace(change: Callable[[Any], None]) -> Plant:
    """Return a fault in the record of the whole graph."""

    def plant(patch: pytest.MonkeyPatch) -> None:
        right = dl_dicp.recording.recorder.Trace.fold

        def fold(self: Any) -> None:
            right(self)
            change(self)

        patch.setattr(dl_dicp.recording.recorder.Trace, "fold", fold)

    return plant


def index_of(trace: Any, name: str, nth: int = 0) -> int:
    found = [i for i, step in enumerate(trace.steps) if step.name.startswith(name)]
    return found[nth]


def swap_steps(trace: Any) -> None:
    one, other = index_of(trace, "tanh"), index_of(trace, "mm")
    trace.steps[one], trace.steps[other] = trace.steps[other], trace.steps[one]


def drop_the_mutation(trace: Any) -> None:
    del trace.steps[index_of(trace, "copy_")]


def spoil_a_constant(trace: Any) -> None:
    assert trace.constants
    trace.constants = {slot: torch.zeros_like(x) for slot, x in trace.constants.items()}


def lose_a_constant(trace: Any) -> None:
    trace.constants = dict.fromkeys(trace.constants)


def swap_arguments(trace: Any) -> None:
    """Redirect reads of one argument to a copy of another argument."""
    x = trace.arguments[0].block
    counts = trace.arguments[2].block
    x.slot, counts.slot = counts.slot, x.slot


def return_a_stale_tensor(trace: Any) -> None:
    first, second = trace.output
    trace.output = [first, replace(second, offset=second.offset + 4, shape=(2,))]


def write_to_an_argument(call: calls.Call) -> list[calls.Call]:
    """Also copy the result to the argument that the call reads."""
    target: Ref = call.arguments["input"]
    place = Ref(target.block, "float32", (2,), (1,), 0)
    return [call, calls.Call("diopiMulInpScalar", {"input": place, "other": TWO})]


TWO = {"dtype": "float64", "value": (2.0).hex()}


def in_document(change: Callable[[dict[str, Any]], None]) -> Plant:
    """Return a fault in the graph's document."""

    def plant(patch: pytest.MonkeyPatch) -> None:
        right = dl_dicp.program.compiled_program.build

        def build(*given: Any) -> Any:
            region = right(*given)
            change(region.document)
            return region

        patch.setattr(dl_dicp.program.compiled_program, "build", build)

    return plant


def entry(document: dict[str, Any]) -> dict[str, Any]:
    return document["entries"]["main"]  # type: ignore[no-any-return]


def overlap_temporaries(document: dict[str, Any]) -> None:
    temps = [s for s in entry(document)["storages"] if s["kind"] == "temp"]
    assert len(temps) >= 2
    entry(document)["plans"] = [
        {"sizes": [], "offsets": [0] * len(temps), "bytes": max(s["bytes"] for s in temps)}
    ]


def shrink_a_storage(document: dict[str, Any]) -> None:
    storages = [s for s in entry(document)["storages"] if s["kind"] == "temp"]
    storages[0]["bytes"] //= 2


def unsatisfied_guard(document: dict[str, Any]) -> None:
    entry(document)["guards"] = [["<", 3, 2]]


def other_contract(document: dict[str, Any]) -> None:
    document["contract"]["diopiSin"] = "0" * 16


def view_beyond_its_storage(document: dict[str, Any]) -> None:
    entry(document)["values"][-1]["offset"] += 1 << 20


def share_a_temporary(document: dict[str, Any]) -> None:
    """Put two temporaries into one storage, where the later one overwrites live data."""
    temps = [i for i, s in enumerate(entry(document)["storages"]) if s["kind"] == "temp"]
    values = [v for v in entry(document)["values"] if v["storage"] in temps]
    largest = max(temps, key=lambda i: entry(document)["storages"][i]["bytes"])
    for value in values:
        value["storage"] = largest


def stale_generator(patch: pytest.MonkeyPatch) -> None:
    """Rewind the generator to its state of the recording before each run."""
    right = dl_dicp.program.compiled_program.Program.execute

    def execute(self: Any, *given: Any) -> list[Any]:
        state = torch.dl.get_rng_state()
        torch.manual_seed(99)
        try:
            return right(self, *given)
        finally:
            torch.dl.set_rng_state(state)

    patch.setattr(dl_dicp.program.compiled_program.Program, "execute", execute)


def unknown_mutation(patch: pytest.MonkeyPatch) -> None:
    """Hide that the graph writes to an argument."""
    patch.setattr(dl_dicp.compiled, "find_written_arguments", lambda module: set())


def wrong_layout_of_results(patch: pytest.MonkeyPatch) -> None:
    right = dl_dicp.program.compiled_program._layout
    patch.setattr(
        dl_dicp.program.compiled_program,
        "_layout",
        lambda ref, offset: (
            *right(ref, offset)[:2],
            tuple(reversed(ref.strides)) if ref.shape == (4, 3) else ref.strides,
            offset,
        ),
    )


def shift_offset(by: int) -> Callable[[Ref], Ref]:
    return lambda ref: replace(ref, offset=ref.offset + by)


def elsewhere(ref: Ref) -> Ref:
    """Return the same tensor in memory that was not written."""
    return replace(ref, block=Block(ref.block.base, ref.block.size))


FAULTS: dict[str, Plant] = {
    "a dropped call": in_one("diopiExp", lambda call: []),
    "a draw twice": in_calls(draw_twice),
    "swapped operands": in_one("diopiSub", swapped),
    "a changed number": with_argument("diopiSub", "alpha", lambda _: TWO | {"value": "0x1p+0"}),
    "another operator": in_one("diopiTanh", lambda c: [calls.Call("diopiSin", c.arguments)]),
    "a wrong offset": with_argument("diopiExp", "input", shift_offset(4)),
    "a wrong stride": with_argument(
        "diopiExp", "input", lambda ref: replace(ref, strides=(ref.strides[0] - 1, 1))
    ),
    "a stale pointer": with_argument("diopiTanh", "input", elsewhere),
    "a result elsewhere": with_argument("diopiTanh", "out", elsewhere),
    "a write to an argument": in_one("diopiExp", write_to_an_argument),
    "swapped steps": in_trace(swap_steps),
    "a missing mutation": in_trace(drop_the_mutation),
    "a wrong constant": in_trace(spoil_a_constant),
    "a missing constant": in_trace(lose_a_constant),
    "swapped arguments": in_trace(swap_arguments),
    "a stale result": in_trace(return_a_stale_tensor),
    "an overlapping plan": in_document(overlap_temporaries),
    "a storage too small": in_document(shrink_a_storage),
    "a guard that never holds": in_document(unsatisfied_guard),
    "another contract": in_document(other_contract),
    "a view beyond its storage": in_document(view_beyond_its_storage),
    "temporaries that share memory": in_document(share_a_temporary),
    "a stale generator": stale_generator,
    "an unknown mutation": unknown_mutation,
    "a wrong layout of results": wrong_layout_of_results,
}


@pytest.fixture(autouse=True)
def nothing_learnt() -> None:
    refusals.forget()


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    FAULTS[name](monkeypatch)
    compiled = torch.compile(model, backend="dl")
    for seed in (1, 2, 3):
        for one, other in zip(run(compiled, seed), run(model, seed), strict=True):
            assert torch.equal(one, other)
    assert statistics.graphs == 0, "the program was used"
    assert statistics.eager.total() == 2, "it did not become eager at once"


def test_without_a_fault_the_program_is_used() -> None:
    compiled = torch.compile(model, backend="dl")
    for seed in (1, 2, 3):
        for one, other in zip(run(compiled, seed), run(model, seed), strict=True):
            assert torch.equal(one, other)
    assert statistics.graphs == 2
    assert not statistics.eager
    assert not statistics.host_calls
