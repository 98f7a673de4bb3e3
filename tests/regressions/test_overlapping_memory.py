"""Results in the memory of arguments: rejected if torch rejects them, otherwise right.

Findings of a sweep over every operator: test_overlap_sweep.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

Call = Callable[[torch.Tensor], Any]


def numbers(count: int = 10, device: str = "dl") -> torch.Tensor:
    """Return distinct numbers in no particular order."""
    return (torch.arange(count, device=device) * 7 % 11).float()


def square(device: str = "dl") -> torch.Tensor:
    return numbers(9, device).view(3, 3)


def places(x: torch.Tensor) -> torch.Tensor:
    return torch.tensor([2, 0, 1], device=x.device)


def _assign_ahead(x: torch.Tensor) -> None:
    x[1:] = x[:-1]


REFUSED: dict[str, Call] = {
    "assignment to a slice": _assign_ahead,
    "copy": lambda x: x[1:].copy_(x[:-1]),
    "copy of one of its own elements": lambda x: x[:4].copy_(x[3:4]),
    "copy of another dtype": lambda x: x[:4].view(torch.int32).copy_(x[1:5]),
    "transposed copy": lambda x: x[:9].view(3, 3).copy_(x[:9].view(3, 3).t()),
    "filling an expanded tensor from one": lambda x: x[:1].expand(4).fill_(x[5]),
    "copy to an expanded tensor": lambda x: x[:1].expand(4).copy_(x[4:8]),
    "copy of the host to an expanded tensor": lambda x: x[:1].expand(4).copy_(torch.ones(4)),
    "arithmetic": lambda x: x[1:].add_(x[:-1]),
    "index_select": lambda x: torch.index_select(x[:3], 0, places(x), out=x[1:4]),
    "index_select of itself": lambda x: torch.index_select(x[:3], 0, places(x), out=x[:3]),
    "gather": lambda x: torch.gather(x[:3], 0, places(x), out=x[:3]),
    "take": lambda x: torch.take(x[:3], places(x), out=x[1:4]),
    "cat": lambda x: torch.cat([x[:3], x[3:6]], out=x[2:8]),
    "stack": lambda x: torch.stack([x[:3], x[3:6]], out=x[2:8].view(2, 3)),
    "scatter": lambda x: x[:3].scatter_(0, places(x), x[1:4]),
    "index_add": lambda x: x[:3].index_add_(0, places(x), x[1:4]),
    "index_copy": lambda x: x[:3].index_copy_(0, places(x), x[1:4]),
    "kthvalue": lambda x: torch.kthvalue(x, 2, out=(x[0], x[0].long())),
    "sort": lambda x: torch.sort(x[:3], out=(x[1:4], places(x))),
    "addr": lambda x: x[:9].view(3, 3).addr_(x[1:4], x[5:8]),
    "a loss": lambda x: torch.ops.aten.mse_loss.out(x[:3], x[5:8], 0, out=x[1:4]),
}

REPEATED: dict[str, Call] = {
    "linspace": lambda out: torch.linspace(0, 1, 4, out=out),
    "arange": lambda out: torch.arange(4.0, device=out.device, out=out),
    "cat": lambda out: torch.cat([numbers(2, out.device.type)] * 2, out=out),
    "index_select": lambda out: torch.index_select(
        numbers(4, out.device.type), 0, torch.arange(4, device=out.device), out=out
    ),
    "gather": lambda out: torch.gather(
        numbers(4, out.device.type), 0, torch.arange(4, device=out.device), out=out
    ),
    "bernoulli": lambda out: torch.bernoulli(torch.ones(4, device=out.device), out=out),
    "arithmetic": lambda out: out.add_(1),
    "sum": lambda out: torch.sum(torch.ones(4, 2, device=out.device), 1, out=out),
    "uniform": lambda out: out.uniform_(),
    "sigmoid": lambda out: torch.sigmoid(torch.ones(4, device=out.device), out=out),
    "logcumsumexp": lambda out: torch.logcumsumexp(torch.ones(4, device=out.device), 0, out=out),
}
"""Calls that write to ``out``, whose four elements share memory."""

RIGHT: dict[str, tuple[Call, Call]] = {
    "sort": (
        lambda x: torch.sort(x, out=(x, torch.empty(10, dtype=torch.int64, device=x.device)))[0],
        lambda x: torch.sort(x)[0],
    ),
    "sort in another order": (
        lambda x: torch.sort(
            x.view(2, 5), 1, True, out=(x.view(2, 5), x.new_empty(0, dtype=torch.int64))
        )[0],
        lambda x: torch.sort(x.view(2, 5), 1, True)[0],
    ),
    "topk": (
        lambda x: torch.topk(x, 10, out=(x, x.new_empty(10, dtype=torch.int64)))[0],
        lambda x: torch.topk(x, 10)[0],
    ),
    "matrix product": (
        lambda x: torch.mm(x[:9].view(3, 3), x[:9].view(3, 3), out=x[:9].view(3, 3)),
        lambda x: torch.mm(x[:9].view(3, 3), x[:9].view(3, 3)),
    ),
    "matrix product in place": (
        lambda x: (lambda m: m.addmm_(m, m))(x[:9].view(3, 3)),
        lambda x: (lambda m: torch.addmm(m, m, m))(x[:9].view(3, 3)),
    ),
    "product with a vector": (
        lambda x: torch.mv(x[:9].view(3, 3), x[:3], out=x[1:4]),
        lambda x: torch.mv(x[:9].view(3, 3), x[:3]),
    ),
    "softmax": (
        lambda x: torch.softmax(x[:9], 0, out=x[1:]),
        lambda x: torch.softmax(x[:9], 0),
    ),
    "running sum": (lambda x: torch.cumsum(x, 0, out=x), lambda x: torch.cumsum(x, 0)),
    "triangle": (
        lambda x: x[:9].view(3, 3).t().tril_(),
        lambda x: x[:9].view(3, 3).t().tril(),
    ),
    "roll": (lambda x: torch.ops.aten.roll.out(x, [3], out=x), lambda x: torch.roll(x, 3)),
    "neighbours": (lambda x: x[::2].add_(x[1::2]), lambda x: x[::2] + x[1::2]),
    "copy to neighbours": (lambda x: x[::2].copy_(x[1::2]), lambda x: x[1::2]),
    "a memory that is resized": (
        lambda x: torch.sort(x, out=(x[:0], x.new_empty(0, dtype=torch.int64)))[0],
        lambda x: torch.sort(x)[0],
    ),
    "itself": (lambda x: x.mul_(x), lambda x: x * x),
}
"""Calls that write to an argument, and their results."""


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("device", ["cpu", "dl"])
def test_overlap_that_torch_refuses_is_refused(name: str, device: str) -> None:
    x = numbers(device=device)
    with pytest.raises(RuntimeError, match="unsupported operation"):
        REFUSED[name](x)
    assert torch.equal(x.cpu(), numbers(device="cpu")), "something was written all the same"


@pytest.mark.parametrize("name", REPEATED)
def test_writing_to_an_expanded_tensor_is_refused(name: str) -> None:
    single = torch.full((1,), 5.0, device="dl")
    with pytest.raises(RuntimeError, match="unsupported operation: more than one element"):
        REPEATED[name](single.expand(4))
    assert single.item() == 5


@pytest.mark.filterwarnings("ignore:An output with one or more elements was resized")
@pytest.mark.parametrize("name", RIGHT)
def test_result_in_the_memory_of_an_argument_is_right(name: str) -> None:
    call, expected = RIGHT[name]
    want = expected(numbers(device="cpu"))
    x = numbers()
    result = call(x)
    torch.testing.assert_close(result.cpu(), want)


def test_outputs_that_share_memory_are_refused() -> None:
    """Torch's CPU silently returns half of each."""
    memory = torch.zeros(12, dtype=torch.float64, device="dl")
    x = torch.ones(2, 2, dtype=torch.float64, device="dl")
    with pytest.raises(RuntimeError, match=r"outputs \w+ and \w+ of aten::linalg_qr.out share"):
        torch.linalg.qr(x, out=(memory[:4].view(2, 2), memory[2:6].view(2, 2)))


FILLS: dict[str, Call] = {
    "fill_": lambda x: x.fill_(3),
    "zero_": lambda x: x.zero_(),
    "full": lambda x: torch.full(x.shape, 3.0, device=x.device, out=x),
}


@pytest.mark.parametrize("name", FILLS)
def test_expanded_tensor_can_be_filled(name: str) -> None:
    expected, single = torch.ones(1), torch.ones(1, device="dl")
    FILLS[name](expected.expand(4))
    FILLS[name](single.expand(4))
    assert torch.equal(single.cpu(), expected)


DEPRECATED: dict[str, tuple[Call, str]] = {
    "masked_fill_": (lambda x: x.masked_fill_(_mask(x), 1), "masked_fill_ on expanded"),
    "masked_fill_ from a tensor": (
        lambda x: x.masked_fill_(_mask(x), torch.ones((), dtype=x.dtype, device=x.device)),
        "masked_fill_ on expanded",
    ),
    "index_fill_": (lambda x: x.index_fill_(0, places(x), 1), "index_fill_ on expanded"),
    "index_put_": (
        lambda x: x.index_put_((places(x),), torch.ones(3, dtype=x.dtype, device=x.device)),
        "index_put_ on expanded",
    ),
}


def _mask(x: torch.Tensor) -> torch.Tensor:
    return torch.tensor([True, False, True, False], device=x.device)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bool], ids=str)
@pytest.mark.parametrize("name", DEPRECATED)
@pytest.mark.parametrize("device", ["cpu", "dl"])
def test_expanded_tensor_is_written_to_with_torchs_warning(
    name: str, device: str, dtype: torch.dtype
) -> None:
    call, text = DEPRECATED[name]
    single = torch.zeros(1, dtype=dtype, device=device)
    with pytest.warns(UserWarning, match=text):
        call(single.expand(4))
    assert single.item() == 1


def test_refusal_draws_no_random_numbers() -> None:
    torch.manual_seed(1)
    state, device_state = torch.get_rng_state(), torch.dl.get_rng_state()
    x = torch.full((5,), 0.5, device="dl")
    with pytest.raises(RuntimeError, match="unsupported operation"):
        x[:4].bernoulli_(x[1:])
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.equal(torch.dl.get_rng_state(), device_state)


@pytest.mark.vendor("cpu")
def test_guarded_call_that_lies_apart_needs_no_copy() -> None:
    """Adjacent parts of one buffer do not overlap, so that nothing is allocated for them."""
    buffer = torch.zeros(3, 64, device="dl")
    torch.cumsum(buffer[0], 0, out=buffer[1])
    before = torch.dl.memory_stats()["allocation.all.allocated"]
    torch.cumsum(buffer[0], 0, out=buffer[1])
    torch.cumsum(buffer[1], 0, out=buffer[1])
    assert torch.dl.memory_stats()["allocation.all.allocated"] == before


VIEWS: dict[str, Callable[[torch.Tensor], tuple[torch.Tensor, torch.Tensor]]] = {
    "left and right of rows": lambda x: (x[:, :3], x[:, 3:]),
    "every second": lambda x: (x[:, ::2], x[:, 1::2]),
    "every second row": lambda x: (x[::2], x[1::2]),
    "quarters": lambda x: (x[:2, :3], x[2:, 3:]),
    "columns": lambda x: (x.t()[:3], x.t()[3:]),
    "neighbouring diagonals": lambda x: (x.diagonal()[:4], x.diagonal(1)[:4]),
    "a column and a row": lambda x: (x[:4, 0], x[1, 1:5]),
    "three dimensions": lambda x: (x.view(4, 3, 2)[:, :, 0], x.view(4, 3, 2)[:, :, 1]),
}
"""Views of 4x6 numbers: pairs of one shape that interleave without common elements."""


@pytest.mark.vendor("cpu")
@pytest.mark.parametrize("name", VIEWS)
def test_views_that_interleave_are_apart(name: str) -> None:
    """Nothing is allocated or copied for interleaved views without common elements."""
    x = numbers(24).view(4, 6)
    expected = x.cpu()
    read, written = VIEWS[name](expected)
    written.copy_(read.exp())
    read, written = VIEWS[name](x)
    before = torch.dl.memory_stats()["allocation.all.allocated"]
    torch.exp(read, out=written)
    assert torch.dl.memory_stats()["allocation.all.allocated"] == before
    torch.testing.assert_close(x.cpu(), expected)


@pytest.mark.parametrize(
    "lay",
    [
        lambda x: (x[:, :4], x[:, 2:]),
        lambda x: (x[:3, 1:], x[1:, :5]),
        lambda x: (x.diagonal()[:4], x[2, :4]),
    ],
)
def test_views_with_an_element_in_common_are_not_apart(
    lay: Callable[[torch.Tensor], tuple[torch.Tensor, torch.Tensor]],
) -> None:
    result, read = lay(numbers(24).view(4, 6))
    torch.testing.assert_close(
        torch.cumsum(read, -1, out=result).cpu(), lay(numbers(24, "cpu").view(4, 6))[1].cumsum(-1)
    )


def test_what_an_output_holds_is_not_copied() -> None:
    """If it shares memory with an input, the result replaces its contents."""
    x = numbers(24).view(4, 6)
    expected = x[:, :4].cpu().cumsum(1)
    with torch.autograd.profiler.profile() as profile:
        torch.cumsum(x[:, :4], 1, out=x[:, 2:])
    assert "aten::clone" not in {event.name for event in profile.function_events}
    torch.testing.assert_close(x[:, 2:].cpu(), expected)
