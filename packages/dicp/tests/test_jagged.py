"""Models of jagged nested tensors compile: one program serves all lengths."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.fx import symbolic_trace
from torch.nn import functional

from agreement import assert_agree
from dl_dicp import statistics
from dl_dicp.compiled import NESTED, CompiledGraph

# Torch warns that nested tensors are in the prototype stage.
pytestmark = pytest.mark.filterwarnings("ignore")

WIDTH = 8
LENGTHS = ((3, 5, 2), (3, 5, 2), (4, 1, 7), (2, 2, 2), (5, 6), (9, 1, 8))
"""Sequence lengths of each batch. Jagged dimensions are distinct even if their lengths are
equal."""


def jagged(lengths: tuple[int, ...]) -> Tensor:
    parts = [torch.randn(length, WIDTH, device="dl") for length in lengths]
    return torch.nested.nested_tensor(parts, layout=torch.jagged)


def attention(x: Tensor) -> Tensor:
    heads = x.unflatten(-1, [2, WIDTH // 2]).transpose(1, 2)
    return functional.scaled_dot_product_attention(heads, heads, heads).transpose(1, 2).flatten(-2)


FUNCTIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "linear": lambda x: x,
    "softmax": lambda x: torch.softmax(x, -1),
    "softmax of sequences": lambda x: torch.softmax(x, 1),
    "padding": lambda x: x.to_padded_tensor(0.0),
    "attention": attention,
    "elements": lambda x: functional.gelu(x) + x * x,
    "concatenation": lambda x: torch.cat([x, 2 * x], -1),
    "values": lambda x: x * x.values().shape[0],
}
IN_EAGER_MODE = ("softmax of sequences", "padding", "attention")
"""Functions of which a part runs eagerly, or has a separate program for each layout."""


def gradient(result: Tensor, weight: Tensor) -> Tensor:
    flat = result.values() if result.is_nested else result
    (found,) = torch.autograd.grad(flat.square().sum(), weight)
    return found


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_model_trains_at_all_lengths(name: str) -> None:
    linear = nn.Linear(WIDTH, WIDTH, device="dl")

    def model(x: Tensor) -> Tensor:
        return FUNCTIONS[name](linear(x))

    compiled = torch.compile(model, backend="dl")
    for lengths in LENGTHS:
        x = jagged(lengths)
        results = [run(x) for run in (compiled, model)]
        parts = [each.unbind() if each.is_nested else [each] for each in results]
        for one, other in zip(*parts, strict=True):
            assert_agree(one, other)
        assert_agree(*(gradient(result, linear.weight) for result in results))
    found = statistics.snapshot()
    assert found.graphs > 0
    if name not in IN_EAGER_MODE:
        assert not found.eager and not found.fixed, "one program serves all lengths"


def test_a_graph_that_reads_a_jagged_length_runs_eagerly_and_says_why() -> None:
    (length,) = (size for size in jagged((1, 2)).shape if isinstance(size, torch.SymInt))

    module = symbolic_trace(lambda x, length: [x * 2, length == 5])
    run = CompiledGraph(module, "inference")
    x = torch.ones(2, device="dl")
    for _ in range(2):
        assert torch.equal(run([x, length])[0], x * 2)
    assert dict(statistics.snapshot().eager) == {NESTED: 2}


def test_a_jagged_length_that_a_graph_returns_is_that_of_the_call() -> None:
    module = symbolic_trace(lambda x, length: [x * 2, length])
    run = CompiledGraph(module, "inference")
    x = torch.ones(2, device="dl")
    for lengths in LENGTHS:
        length = jagged(lengths).shape[1]
        doubled, passed = run([x, length])
        assert torch.equal(doubled, x * 2) and passed is length
    assert dict(statistics.snapshot().eager) == {NESTED: len(LENGTHS)}
