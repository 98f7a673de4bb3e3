"""Values that depend only on frozen weights: computed once, and again when weights change."""

from __future__ import annotations

import gc
from itertools import pairwise
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from dl_dicp import statistics
from dl_dicp.folding import batch_norm
from dl_dicp.reports.explain import explain


class Normed(nn.Module):
    """Convolution, batch norm and an activation."""

    def __init__(self, *, bias: bool = True, affine: bool = True, groups: int = 1) -> None:
        super().__init__()
        self.convolution = nn.Conv2d(8, 12, 3, padding=1, bias=bias, groups=groups)
        self.norm = nn.BatchNorm2d(12, affine=affine)
        with torch.no_grad():
            self.norm.running_mean.normal_()
            self.norm.running_var.uniform_(0.2, 3)
            if affine:
                self.norm.weight.normal_()
                self.norm.bias.normal_()

    def forward(self, x: Tensor) -> Tensor:
        return self.norm(self.convolution(x)).relu()


class Scaled(nn.Module):
    """Operators on weights before their use, views of weights, and a buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(6, 8))
        self.register_buffer("scale", torch.rand(6, 1))

    def forward(self, x: Tensor) -> Tensor:
        scaled = (self.weight * self.scale).tanh()
        return x @ scaled.t() + self.scale.view(6)


def images() -> Tensor:
    return torch.randn(2, 8, 9, 9).to("dl")


def compiled(net: nn.Module, **options: Any) -> Any:
    return torch.compile(net, backend="dl", options={"frozen": True, **options})


def calls_of(run: Any, *arguments: Any) -> int:
    """Return the number of operator calls in a run of a program."""
    with torch.no_grad():
        for _ in range(3):
            run(*arguments)
        before = statistics.snapshot()
        run(*arguments)
        after = statistics.snapshot()
    assert after.graphs == before.graphs + 1
    assert not after.eager - before.eager
    return after.calls - before.calls


def check(run: Any, net: nn.Module, *arguments: Any, **bounds: float) -> None:
    with torch.no_grad():
        torch.testing.assert_close(run(*arguments), net(*arguments), **bounds)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize("groups", [1, 4])
def test_batch_norm_is_part_of_the_convolution(bias: bool, affine: bool, groups: int) -> None:
    net = Normed(bias=bias, affine=affine, groups=groups).to("dl").eval()
    run = compiled(net)
    assert calls_of(run, images()) == 2, "the convolution and the activation"
    x = images()
    check(run, net, x, rtol=1e-5, atol=1e-5)
    assert "1 batch norms are part of convolutions" in explain()


def test_half_precision_is_not_rounded_twice() -> None:
    net = Normed().to("dl").eval()
    run = compiled(net)
    x = images()
    with torch.no_grad(), torch.autocast("dl", torch.bfloat16):
        for _ in range(3):
            given = run(x)
        eager = net(x)
    exact = net.double()(x.double())
    assert (given - exact).abs().max() <= 1.5 * (eager - exact).abs().max()


def test_casts_of_weights_happen_once() -> None:
    net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4)).to("dl").eval()
    x = torch.randn(5, 8, device="dl")
    with torch.autocast("dl", torch.bfloat16):
        plain = calls_of(torch.compile(net, backend="dl"), x)
        torch._dynamo.reset()
        run = compiled(net)
        once = calls_of(run, x)
        assert once <= plain - 4, "two weights and two biases"
        check(run, net, x)


def test_work_on_weights_happens_once() -> None:
    net = Scaled().to("dl").eval()
    run = compiled(net)
    x = torch.randn(3, 8, device="dl")
    assert calls_of(run, x) <= 2, "the product and the sum"
    check(run, net, x)


def test_a_weight_that_changes_is_noticed() -> None:
    net = Scaled().to("dl").eval()
    run = compiled(net)
    x = torch.randn(3, 8, device="dl")
    calls_of(run, x)
    with torch.no_grad():
        net.weight.add_(1)
        check(run, net, x)
        net.scale.mul_(3)
        check(run, net, x)
        net.scale = torch.rand(6, 1, device="dl")
        check(run, net, x)
        net.load_state_dict(Scaled().state_dict())
        check(run, net, x)


def test_statistics_of_a_norm_that_change_are_noticed() -> None:
    net = Normed().to("dl").eval()
    run = compiled(net)
    calls_of(run, images())
    net.train()
    with torch.no_grad():
        net(images() * 5)  # eager mode: it moves the running statistics
    net.eval()
    x = images()
    check(run, net, x, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("frozen", [False, True])
def test_batch_norm_in_half_precision_stays_in_the_graph(dtype: torch.dtype, frozen: bool) -> None:
    """The parameters are in half precision, which the contract's operator does not support."""
    net = nn.Sequential(nn.BatchNorm2d(3), nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU())
    net = net.eval().to(dtype).to("dl")
    run = compiled(net, frozen=frozen)
    x = torch.randn(2, 3, 8, 8).to(dtype).to("dl")
    with torch.no_grad():
        run(x)
        before = statistics.snapshot().host_calls
        found = run(x)
        assert statistics.snapshot().host_calls == before
        torch.testing.assert_close(found, net(x))


def test_weights_that_cannot_be_folded_are_left_alone() -> None:
    """Folded weights may overflow later, even if those that were compared did not."""
    net = nn.Sequential(nn.Conv2d(3, 8, 3, bias=False), nn.BatchNorm2d(8)).eval().half().to("dl")
    run = compiled(net)
    x = (torch.randn(2, 3, 8, 8) * 1e-3).half().to("dl")
    with torch.no_grad():
        run(x)
        net[0].weight.fill_(400)
        net[1].running_var.zero_()
        for _ in range(3):
            torch.testing.assert_close(run(x), net(x))
        net[1].running_var.fill_(1)
        torch.testing.assert_close(run(x), net(x))


def test_what_was_computed_goes_with_the_model() -> None:
    memory = torch.dl.memory_allocated()
    net = nn.Sequential(nn.Conv2d(64, 64, 3), nn.BatchNorm2d(64)).to("dl").eval()
    run = compiled(net)
    calls_of(run, torch.randn(1, 64, 3, 3).to("dl"))
    del net, run
    gc.collect()
    # The program keeps the memory of its temporaries.
    assert torch.dl.memory_allocated() <= memory + 64 * 64 * 9


def test_two_programs_of_one_weight_both_notice_writes() -> None:
    net = Normed().to("dl").eval()
    run = torch.compile(net, backend="dl", dynamic=False, options={"frozen": True})
    batches = [torch.randn(n, 8, 9, 9).to("dl") for n in (2, 3)]
    with torch.no_grad():
        for x in batches * 3:
            run(x)
        for _ in range(2):
            net.convolution.weight.mul_(-2)
            for x in batches * 2:
                torch.testing.assert_close(run(x), net(x), rtol=1e-5, atol=1e-4)


def test_training_norms_stay() -> None:
    net = Normed().to("dl").train()
    run = compiled(net)
    other = Normed().to("dl").train()
    other.load_state_dict(net.state_dict())
    x = images()
    with torch.no_grad():
        for _ in range(3):
            torch.testing.assert_close(run(x), other(x), rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(net.norm.running_var, other.norm.running_var)


def test_buffers_that_the_graph_writes_to_are_not_frozen() -> None:
    class Counted(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("seen", torch.zeros(4))

        def forward(self, x: Tensor) -> Tensor:
            self.seen += 1
            return x * self.seen.exp()

    net = Counted().to("dl").eval()
    run = compiled(net)
    x = torch.ones(4, device="dl")
    with torch.no_grad():
        results = [run(x).cpu() for _ in range(4)]
    wanted = [torch.full((4,), float(n)).exp() for n in range(1, 5)]
    torch.testing.assert_close(results, wanted)


def test_results_are_the_callers() -> None:
    """Results of a call are not shared with later calls."""

    class Given(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.randn(4, 4))

        def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
            twice = self.weight * 2
            return x @ twice, twice.view(16)

    net = Given().to("dl").eval()
    run = compiled(net)
    x = torch.randn(2, 4, device="dl")
    with torch.no_grad():
        for _ in range(4):
            run(x)[1].zero_()
        torch.testing.assert_close(run(x), net(x))


def test_random_numbers_are_drawn_in_each_call() -> None:
    class Noisy(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.zeros(64))

        def forward(self, x: Tensor) -> Tensor:
            return x + torch.rand_like(self.weight).exp()

    run = compiled(Noisy().to("dl").eval())
    x = torch.zeros(64, device="dl")
    with torch.no_grad():
        results = [run(x).cpu() for _ in range(4)]
    assert not any(torch.equal(a, b) for a, b in pairwise(results))


def test_sizes_may_vary() -> None:
    net = Normed().to("dl").eval()
    run = torch.compile(net, backend="dl", dynamic=True, options={"frozen": True})
    with torch.no_grad():
        for batch in (2, 3, 5, 4):
            x = torch.randn(batch, 8, 6 + batch, 9, device="dl")
            torch.testing.assert_close(run(x), net(x), rtol=1e-5, atol=1e-5)


def test_a_wrong_fold_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(*arguments: Any) -> None:
        fold(*arguments)
        (result,) = (n for n in arguments[0].nodes if n.op == "output")
        graph = arguments[0]
        (given,) = result.all_input_nodes
        with graph.inserting_before(result):
            spoilt = graph.call_function(torch.ops.aten.mul.Tensor, (given, 1.01))
        spoilt.meta = dict(given.meta)
        result.replace_input_with(given, spoilt)

    fold = batch_norm._fold
    monkeypatch.setattr(batch_norm, "_fold", wrong)
    net = Normed().to("dl").eval()
    run = compiled(net)
    x = images()
    with torch.no_grad():
        for _ in range(3):
            torch.testing.assert_close(run(x), net(x), rtol=1e-5, atol=1e-5)
    assert "nothing is computed once, because value 0 differed" in explain()


def test_gradients_are_of_the_weights() -> None:
    net = Scaled().to("dl")
    run = compiled(net)
    x = torch.randn(3, 8, device="dl")
    calls_of(run, x)
    run(x).sum().backward()
    assert net.weight.grad is not None
    given, net.weight.grad = net.weight.grad, None
    net(x).sum().backward()
    torch.testing.assert_close(given, net.weight.grad)
