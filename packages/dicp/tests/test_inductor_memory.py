"""Memory that Inductor's graphs read and write: arguments, caches, buffers, host tensors."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from agreement import assert_agree
from dl_dicp import statistics
from dl_dicp.reports.explain import explain
from test_inductor import all_by_inductor, chain, compile_, runs, vector

pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit.script_method`:DeprecationWarning")


def test_a_cache_is_written_in_place() -> None:
    def step(cache: Tensor, place: Tensor, word: Tensor) -> Tensor:
        cache.index_copy_(0, place, word)
        return cache.sum(0) + word

    run = compile_(step)
    one, other = torch.zeros(5, 3, device="dl"), torch.zeros(5, 3, device="dl")
    where = one.data_ptr()
    for number in range(4):
        place, word = torch.tensor([number], device="dl"), vector(1, 3)
        version = one._version
        assert_agree(run(one, place, word), step(other, place, word))
        assert torch.equal(one.cpu(), other.cpu())
        assert one._version > version and one.data_ptr() == where
    assert runs() == 4 and all_by_inductor()


def test_buffers_of_a_batch_norm() -> None:
    one, other = (nn.BatchNorm1d(6).to("dl") for _ in range(2))
    run = compile_(one)
    for _ in range(3):
        x = vector(4, 6)
        with torch.no_grad():
            assert_agree(run(x), other(x))
        assert_agree(one.running_mean, other.running_mean)
        assert_agree(one.running_var, other.running_var)
        assert one.num_batches_tracked == other.num_batches_tracked
    assert runs() == 3 and all_by_inductor()


def test_arguments_of_every_layout() -> None:
    whole = vector(6, 8, 4)
    given = [
        (whole[1:5, ::2, 0], whole[0:4, 1::2, 1]),
        (whole[:, 0].t(), whole[:, 1].t()),
        (vector(1, 4).expand(3, 4), vector(3, 1).expand(3, 4)),
        (whole[..., 2], whole[..., 2]),
    ]
    for x, y in given:
        run = compile_(chain)
        for _ in range(2):
            assert_agree(run(x, y), chain(x, y))
    assert all_by_inductor()


def test_results_that_share_memory_with_an_argument() -> None:
    def function(x: Tensor) -> tuple[Tensor, ...]:
        return x, x.view(2, 4), x[2:5], x + 1

    run = compile_(function)
    x = vector()
    for _ in range(2):
        for one, other in zip(run(x), function(x), strict=True):
            assert one.data_ptr() == other.data_ptr() or one.data_ptr() != x.data_ptr()
            assert one.device == other.device and torch.equal(one.cpu(), other.cpu())
        run(x)[2].zero_()
        assert not x[2:5].any()
    assert all_by_inductor()


def test_written_arguments_that_share_memory() -> None:
    def function(x: Tensor, y: Tensor) -> Tensor:
        x.add_(1)
        return y * 2

    run = compile_(function)
    for _ in range(3):
        whole = vector(12)
        other = whole.clone()
        made, wanted = run(whole[:8], whole[4:]), function(other[:8], other[4:])
        assert torch.equal(made.cpu(), wanted.cpu()) and torch.equal(whole.cpu(), other.cpu())
    assert runs() == 3


def test_written_arguments_that_begin_to_share_memory() -> None:
    """Each write is visible to the next one, as with the default engine."""

    def function(x: Tensor, y: Tensor) -> None:
        x.mul_(2)
        y.add_(1)

    run = compile_(function)
    for start in (8, 4, 8):
        whole = vector(16)
        other = whole.clone()
        run(whole[:8], whole[start : start + 8])
        if start == 8:
            function(other[:8], other[8:])
            assert torch.equal(whole.cpu(), other.cpu())
    assert runs() == 2
    assert statistics.eager == {"arguments that share memory are written to": 1}


def test_results_of_two_runs_are_apart() -> None:
    run = compile_(lambda x: (x * 2, torch.arange(8, device=x.device), torch.tensor([1.0, 2.0])))
    for _ in range(3):
        twice, places, constant = run(torch.ones(8, device="dl"))
        assert twice.sum() == 16 and places.tolist() == list(range(8))
        assert constant.tolist() == [1, 2] and constant.device.type == "cpu"
        for each in (twice, places, constant):
            each.zero_()


def test_tensors_of_the_host_beside_those_of_the_device() -> None:
    def function(x: Tensor, table: Tensor, scale: Tensor, number: float) -> tuple[Tensor, ...]:
        moved = table.to(x.device)
        return x * scale + moved * number, moved, x.cpu(), x.cpu() + table, table * 2

    run = compile_(function)
    table = torch.randn(8)
    for scale, number in ((2.0, 0.5), (3.0, 0.5), (3.0, 0.25)):
        x = vector()
        given = (x, table, torch.tensor(scale), number)
        results, wanted = run(*given), function(*given)
        for one, other in zip(results, wanted, strict=True):
            assert one.device == other.device
            assert_agree(one, other)
        kept = x.clone(), table.clone()
        for each in results:
            each.zero_()
        assert torch.equal(x.cpu(), kept[0].cpu()) and torch.equal(table, kept[1])
    assert all_by_inductor(), explain()
