"""Indices out of range raise the same errors as on torch's CPU, in every operator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.nn import functional

Call = Callable[[torch.Tensor, torch.Tensor], Any]
"""A function of four numbers, and indices of which one is out of range."""


def table(x: torch.Tensor) -> torch.Tensor:
    return x.view(4, 1).expand(4, 3).contiguous()


def scores(x: torch.Tensor) -> torch.Tensor:
    return table(x).t().log_softmax(1)


def _assign(x: torch.Tensor, i: torch.Tensor) -> None:
    x[i] = 1


def _unpool(x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
    return functional.max_unpool2d(x[:3].view(1, 1, 1, 3), i.view(1, 1, 1, 3) * 3, 2)


OF_TORCH = ("ignore:index_reduce", "ignore:The reduce argument of torch.scatter")
"""Warnings that torch emits once per process, in whichever test comes first."""

CALLS: dict[str, Call] = {
    "x[i]": lambda x, i: x[i],
    "x[i, i]": lambda x, i: table(x)[i, i],
    "x[i] = 1": _assign,
    "index": lambda x, i: torch.ops.aten.index(x, [i]),
    "index_put": lambda x, i: x.index_put((i,), x[:3]),
    "index_put accumulating": lambda x, i: x.index_put((i,), x[:3], accumulate=True),
    "index_select": lambda x, i: x.index_select(0, i),
    "index_select of rows": lambda x, i: table(x).index_select(0, i),
    "index_select of columns": lambda x, i: table(x).index_select(1, i),
    "index_add": lambda x, i: x.index_add(0, i, x[:3]),
    "index_add of rows": lambda x, i: table(x).index_add(0, i, table(x)[:3]),
    "index_add times a number": lambda x, i: x.index_add(0, i, x[:3], alpha=2),
    "index_fill": lambda x, i: x.index_fill(0, i, 5),
    "index_fill from a tensor": lambda x, i: x.index_fill(0, i, x[0]),
    "index_copy": lambda x, i: x.index_copy(0, i, x[:3]),
    "index_copy of rows": lambda x, i: table(x).index_copy(0, i, table(x)[:3]),
    "index_reduce": lambda x, i: x.index_reduce(0, i, x[:3], "amax"),
    "gather": lambda x, i: x.gather(0, i),
    "gather of columns": lambda x, i: table(x).gather(1, i.view(1, 3)),
    "scatter": lambda x, i: x.scatter(0, i, x),
    "scatter of a number": lambda x, i: x.scatter(0, i, 1.0),
    "scatter_add": lambda x, i: x.scatter_add(0, i, x),
    "scatter with a reduction": lambda x, i: x.scatter(0, i, x, reduce="multiply"),
    "scatter_reduce": lambda x, i: x.scatter_reduce(0, i, x, "sum"),
    "scatter_reduce of means": lambda x, i: x.scatter_reduce(0, i, x, "mean"),
    "take": lambda x, i: x.take(i),
    "put_": lambda x, i: x.put_(i, x[:3].clone()),
    "put_ accumulating": lambda x, i: x.put_(i, x[:3].clone(), accumulate=True),
    "take_along_dim": lambda x, i: x.take_along_dim(i),
    "embedding": lambda x, i: functional.embedding(i, table(x)),
    "embedding with a largest norm": lambda x, i: functional.embedding(i, table(x), max_norm=1.0),
    "embedding_bag": lambda x, i: functional.embedding_bag(
        i, table(x), torch.tensor([0, 1]).to(i.device)
    ),
    "nll_loss": lambda x, i: functional.nll_loss(scores(x), i),
    "nll_loss of images": lambda x, i: functional.nll_loss(
        scores(x).t().reshape(1, 4, 1, 3), i.view(1, 1, 3)
    ),
    "cross_entropy": lambda x, i: functional.cross_entropy(scores(x), i),
    "multi_margin_loss": lambda x, i: functional.multi_margin_loss(scores(x), i),
    "max_unpool2d": _unpool,
}


@pytest.mark.filterwarnings(*OF_TORCH)
@pytest.mark.parametrize("index", [4, -5, 2**40], ids=str)
@pytest.mark.parametrize("name", CALLS)
def test_index_out_of_range_raises_as_on_the_cpu(name: str, index: int) -> None:
    x, indices = torch.arange(4.0), torch.tensor([0, index, 1])
    with pytest.raises((IndexError, RuntimeError)) as cpu:
        CALLS[name](x, indices)
    on_dl, there = x.to("dl"), indices.to("dl")

    def call_and_wait() -> None:
        CALLS[name](on_dl, there)
        # Errors found by an asynchronous device are raised on synchronization, always as an
        # IndexError.
        torch.dl.synchronize()

    with pytest.raises((cpu.type, IndexError)) as got:
        call_and_wait()
    late = "after the call had returned" in str(got.value)
    assert got.type is (IndexError if late else cpu.type)
    assert torch.ones(2, device="dl").sum().item() == 2, "the device is no longer usable"


@pytest.mark.filterwarnings(*OF_TORCH)
@pytest.mark.parametrize("name", CALLS)
def test_last_index_is_in_range(name: str) -> None:
    """The error is about the index, not about the call."""
    indices = torch.tensor([0, 2, 1])
    want, got = torch.arange(4.0), torch.arange(4.0, device="dl")
    result, other = CALLS[name](want, indices), CALLS[name](got, indices.to("dl"))
    if result is not None:
        torch.testing.assert_close(other.cpu(), result)
    torch.testing.assert_close(got.cpu(), want)


@pytest.mark.vendor("cpu")
@pytest.mark.parametrize("index", [-3, 2**40])
def test_a_gradients_index_is_refused_by_the_vendor(index: int) -> None:
    """Torch's CPU kernel, which gives other errors their messages, would write out of bounds."""
    x = torch.ones(1, 1, 4, 4, device="dl")
    places = torch.full((1, 1, 2, 2), index, device="dl")
    with pytest.raises(RuntimeError, match="out of range"):
        torch.ops.aten.max_pool2d_with_indices_backward(
            torch.ones(1, 1, 2, 2, device="dl"), x, [2, 2], [2, 2], [0, 0], [1, 1], False, places
        )
