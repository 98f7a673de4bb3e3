"""``torch.accelerator.Graph``: work is recorded once and replayed, if the vendor can capture."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

import pytest
import torch
from core.lacking import OVERLOAD, lacking
from core.processes import RUNS_ONCE, output

SIZE = 4096

captures = pytest.mark.vendor("async")


def captured(
    function: Callable[[], torch.Tensor],
    stream: torch.Stream | None = None,
    pool: tuple[int, int] | None = None,
) -> tuple[torch.accelerator.Graph, torch.Tensor]:
    """Return a graph of a call, and the tensor that each replay writes."""
    graph = torch.accelerator.Graph(pool=pool)
    with stream or torch.Stream(device="dl"), graph:
        result = function()
    return graph, result


def ramp() -> torch.Tensor:
    return torch.arange(float(SIZE)).to("dl")


@captures
def test_a_replay_computes_with_what_is_there_then() -> None:
    given = ramp()
    graph, result = captured(lambda: (given * 2 + 1).relu())
    for start in (0.0, -5.0, 7.5):
        given.copy_(torch.arange(float(SIZE)) + start)
        graph.replay()
        expected = ((torch.arange(float(SIZE)) + start) * 2 + 1).relu()
        assert torch.equal(result.cpu(), expected)


@captures
def test_nothing_runs_while_it_is_captured() -> None:
    given = ramp()
    graph, _ = captured(lambda: given.add_(1))
    assert torch.equal(given.cpu(), torch.arange(float(SIZE)))
    graph.replay()
    graph.replay()
    assert torch.equal(given.cpu(), torch.arange(float(SIZE)) + 2)


@captures
def test_replays_on_another_stream_are_in_its_order() -> None:
    given = ramp()
    graph, _ = captured(lambda: given.mul_(2))
    with torch.Stream(device="dl"):
        graph.replay()
        given.add_(1)
        graph.replay()
        found = given.cpu()
    assert torch.equal(found, torch.arange(float(SIZE)) * 4 + 2)


@captures
@pytest.mark.parametrize("size", [SIZE, 1 << 20])
def test_its_memory_serves_nothing_else(size: int) -> None:
    """Intermediate results are freed during capture, and written by each replay."""
    given, stream = torch.ones(size, device="dl"), torch.Stream(device="dl")
    graph, result = captured(lambda: (given * 2 + 1).mul(3).add(4), stream)
    torch.dl.empty_cache()
    with stream:
        others = [torch.full((size,), 7.0, device="dl") for _ in range(8)]
        graph.replay()
        assert torch.equal(result.cpu(), torch.full((size,), 13.0))
        assert all(torch.equal(each.cpu(), torch.full((size,), 7.0)) for each in others)


@captures
def test_its_memory_comes_back() -> None:
    torch.dl.empty_cache()
    before = torch.dl.memory_reserved()

    def call(given: torch.Tensor) -> torch.Tensor:
        return given * 2 + 1

    graph, result = captured(partial(call, torch.ones(1 << 20, device="dl")))
    del result
    torch.dl.empty_cache()
    assert torch.dl.memory_reserved() > before
    graph.reset()
    torch.dl.empty_cache()
    assert torch.dl.memory_reserved() == before


@captures
def test_graphs_share_a_pool() -> None:
    given = torch.ones(1 << 20, device="dl")
    first, one = captured(lambda: given * 2)
    reserved = torch.dl.memory_reserved()
    del one
    second, two = captured(lambda: given * 3, pool=first.pool())
    assert second.pool() == first.pool()
    assert torch.dl.memory_reserved() == reserved
    second.replay()
    assert two[:2].tolist() == [3, 3]
    third, _ = captured(lambda: given * 4)
    assert third.pool() != first.pool()


@captures
def test_a_graph_can_be_captured_again_after_a_reset() -> None:
    given = ramp()
    graph, _ = captured(lambda: given.add_(1))
    with (
        pytest.raises(RuntimeError, match=r"captured before.*reset"),
        torch.Stream(device="dl"),
    ):
        graph.capture_begin()
    graph.reset()
    with pytest.raises(RuntimeError, match="no graph was captured"):
        graph.replay()
    with torch.Stream(device="dl"), graph:
        given.mul_(3)
    graph.replay()
    assert torch.equal(given.cpu(), torch.arange(float(SIZE)) * 3)


@captures
def test_whether_something_is_captured_can_be_asked() -> None:
    graph = torch.accelerator.Graph()
    assert not torch.dl.is_current_stream_capturing()
    with torch.Stream(device="dl"):
        with graph:
            assert torch.dl.is_current_stream_capturing()
        assert not torch.dl.is_current_stream_capturing()


NOT_CAPTURED: dict[str, tuple[Callable[[torch.Tensor], object], str]] = {
    "item": (lambda x: x[0].item(), "aten::item"),
    "copy to the host": (lambda x: x.cpu(), r"a copy to the host \(cpu\(\)"),
    "copy from the host": (lambda x: x.copy_(torch.ones(SIZE)), r"a copy from the host \(to\(\)"),
    "fallback": (lambda x: lacking(x.view(64, 64)), f"aten::{OVERLOAD}.*, which runs on the CPU,"),
    "random numbers": (lambda x: torch.bernoulli(x), "in aten::bernoulli"),
    "inside another one": (lambda x: torch.rrelu(x, training=True), "in aten::rrelu_with_noise"),
}
"""Calls, and their names in the message."""


@captures
@pytest.mark.parametrize(("call", "named"), NOT_CAPTURED.values(), ids=NOT_CAPTURED)
def test_what_cannot_be_captured_is_named_and_the_stream_goes_on(
    call: Callable[[torch.Tensor], object], named: str
) -> None:
    given = torch.ones(SIZE, device="dl")
    graph = torch.accelerator.Graph()
    stream = torch.Stream(device="dl")
    with stream:
        with pytest.raises(RuntimeError, match=r"^\[dl\] .*cannot be captured") as caught, graph:
            call(given)
        assert re.search(named, str(caught.value))
        assert torch.equal((given + 1).cpu(), torch.full((SIZE,), 2.0))


@captures
def test_an_end_without_a_begin_is_refused() -> None:
    with pytest.raises(RuntimeError, match=r"nothing is being captured; call capture_begin"):
        torch.accelerator.Graph().capture_end()


@captures
def test_what_a_graph_holds_is_not_shown() -> None:
    with pytest.raises(NotImplementedError, match=r"debug_dump.*profile"):
        torch.accelerator.Graph().debug_dump("graph.dot")


CHECKED = """
import torch
try:
    with torch.Stream(device="dl"), torch.accelerator.Graph():
        pass
except RuntimeError as error:
    print(error)
"""


@RUNS_ONCE
def test_nothing_is_captured_while_memory_is_checked() -> None:
    assert "unset it" in output(CHECKED, DL_VENDORS="async", DL_MEM_CHECK="1")


@pytest.mark.vendor("cpu")
def test_a_vendor_that_captures_nothing_is_named() -> None:
    with pytest.raises(
        NotImplementedError, match=r"dl:0 \(vendor cpu\) does not support graph capture"
    ):
        torch.accelerator.Graph()
