"""Compiled graphs pass through dl-core's observers, by which tools check them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch.fx import GraphModule

from dl_core.torch_backend.graph_observers import (
    Compile,
    GraphCall,
    add_observer,
    remove_observer,
)


@pytest.fixture
def graphs() -> Iterator[list[tuple[str, GraphModule, Compile]]]:
    found: list[tuple[str, GraphModule, Compile]] = []

    def observe(module: GraphModule, kind: str, call: GraphCall, part: Compile) -> GraphCall:
        found.append((kind, module, part))

        def doubled(arguments: list[Any]) -> list[Any]:
            return [2 * x if isinstance(x, torch.Tensor) else x for x in call(arguments)]

        doubled._boxed_call = True  # type: ignore[attr-defined]
        return doubled

    add_observer(observe)
    yield found
    remove_observer(observe)


def test_an_observer_stands_in_for_a_graph(
    graphs: list[tuple[str, GraphModule, Compile]],
) -> None:
    torch._dynamo.reset()
    x = torch.ones(3, device="dl")
    run = torch.compile(lambda x: x.sin() + 1, backend="dl")
    expected = 2 * (x.sin() + 1)
    assert all(torch.equal(run(x), expected) for _ in range(3))
    ((kind, module, part),) = graphs
    assert kind == "inference"
    # A part is compiled without observers: its first call is recorded, later ones run a graph.
    alone = part(module)
    assert all(torch.equal(alone([x])[0], x.sin() + 1) for _ in range(3))
    torch._dynamo.reset()
