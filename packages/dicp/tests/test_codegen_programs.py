"""Programs with kernels: data that no check has seen, in-place writes, and random calls."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from codegen_kit import OPTIONS, Function, assert_near, run
from dl_dicp import statistics
from dl_dicp.backend import dl
from dl_dicp.engines.codegen import racing
from dl_dicp.testing import models
from dl_dicp.testing.model_list import FAMILIES

aten = torch.ops.aten
pytestmark = pytest.mark.usefixtures("always")


def test_data_that_the_check_has_not_seen() -> None:
    """A kernel is right for special values that did not occur when it was checked."""

    def function(x: Tensor, y: Tensor, h: Tensor) -> Any:
        return (
            ((x + y) * 3).half().float() - (x + y) * 3,
            (x * 2).bfloat16().float(),
            (x * 1e-9).half().bool(),
            (x * x - y * y) > 0,
            torch.sqrt(x * x - y * y) + 1,
            ((h * 1 + 0) * 1) == 0.1,
            ((h * 1 + 0) * 1) >= 0.1,
            (h * 1000) * 0.001,
            torch.lerp(x * 1, y + 0, 1.0) * 2 + 1,
            torch.lerp(x * 1, y + 0, 0.25) * 2 + 1,
            (x * 1e36 + 1).mean(-1) * 1,
            F.layer_norm(x * 1e19, x.shape[-1:]) + 1,
            1 / torch.relu(x * 1),
            1 / (x * 1).clamp(min=0),
            1 / (x * 1).clamp(max=0),
            F.hardswish(x * 1e36 + y),
        )

    compiled = torch.compile(function, backend="dl", options=OPTIONS)
    up = 1 + torch.arange(96).expand(64, 96) / 96
    easy = [up.to("dl"), (up * 2).to("dl"), torch.full((64, 96), 5.0).half().to("dl")]
    x = torch.randn(64, 96)
    x[3, :4] = torch.tensor([-0.0, 0.0, 1e8, 200.0])
    hard = [
        x.to("dl"),
        x.clone().to("dl"),
        (torch.arange(6144) / 1000).view(64, 96).half().to("dl"),
    ]
    for _ in range(3):
        compiled(*easy)
    racing.wait_for_kernels()
    compiled(*easy)
    before = statistics.engine_runs["codegen"]
    made, wanted = compiled(*hard), function(*hard)
    assert statistics.engine_runs["codegen"] > before and not statistics.dropped
    for place, (a, b) in enumerate(zip(made, wanted, strict=True)):
        assert_near(place, a, b, 64.0)


def test_copies_of_halves_keep_their_bits() -> None:
    def function(h: Tensor) -> Any:
        return h.view(torch.int16).clone(), (h * 2 + 1).tanh() * h, torch.cat([h.clone(), h], -1)

    compiled = torch.compile(function, backend="dl", options=OPTIONS)
    for _ in range(3):
        compiled(torch.ones(64, 96).half().to("dl"))
    racing.wait_for_kernels()
    compiled(torch.ones(64, 96).half().to("dl"))
    bits = torch.arange(-3072, 3072, dtype=torch.int16).view(64, 96) * 10
    made = compiled(bits.to("dl").view(torch.float16))
    assert torch.equal(made[0].cpu(), bits)
    assert statistics.engine_runs["codegen"] and not statistics.dropped


def test_gradients_of_parts_of_one_product() -> None:
    """Memory of gradients is filled and copied as integers, and no other call shows the dtype."""
    torch.manual_seed(0)
    layer = torch.nn.Linear(64, 192).to("dl")

    def function(x: Tensor) -> Tensor:
        q, k, v = layer(x).view(8, 32, 3, 4, 16).permute(2, 0, 3, 1, 4)
        return ((q @ k.transpose(-1, -2)) @ v).square().mean()

    compiled = torch.compile(function, backend="dl", options=OPTIONS)
    x = torch.randn(8, 32, 64, device="dl")
    for _ in range(3):
        layer.zero_grad()
        compiled(x).backward()
        racing.wait_for_kernels()
    got = layer.weight.grad.clone()
    layer.zero_grad()
    function(x).backward()
    torch.testing.assert_close(got.cpu(), layer.weight.grad.cpu())
    assert not statistics.dropped


def test_long_programs_have_several_kernels() -> None:
    def function(x: Tensor, y: Tensor) -> Tensor:
        for _ in range(40):
            x = x * 0.99 + y
        return x

    x, y = (torch.rand(6, 40).to("dl") for _ in range(2))
    run(function, x, y, eps=16.0)


IN_PLACE: dict[str, Function] = {
    "an argument": lambda x, y: (x.mul_(2).add_(y), x * y),
    "read before it is written": lambda x, y: (x * y, x.add_(1), x + y),
    "copies, fills": lambda x, y: (x.copy_(y * 2), y.fill_(3.0), (x + y).zero_() + 1),
    "its sum is needed later": lambda x, y: x.sub_(x.mean(-1, keepdim=True)).mul_(y),
    "a row, after a sum of it": lambda x, y: (
        x / x.sum(-1, keepdim=True),
        x.add_(y),
        x.sum(-1),
    ),
    "to another dtype": lambda x, y: ((x + y).to(torch.bfloat16) * 2, (x * y).to(torch.bool)),
    "a part of a row, over the whole of it": lambda x, y: (
        aten.slice_backward(y[:, :4] + 1, [6, 40], 1, 0, 4, 1),
        x * 2,
    ),
    "a mask with a value": lambda x, y: x.masked_fill(y > 0, y.sum()) + 1,
}


@pytest.mark.parametrize("name", IN_PLACE)
def test_what_is_written_is_the_argument(name: str) -> None:
    x, y = (torch.rand(6, 40).to("dl") for _ in range(2))
    run(IN_PLACE[name], x, y, eps=8.0)


def test_rows_that_depend_on_others_are_no_kernel() -> None:
    def shifted(x: Tensor, y: Tensor) -> Tensor:
        x[1:] += x[:-1] * 2
        return x * y

    x, y = (torch.rand(6, 40).to("dl") for _ in range(2))
    run(shifted, x, y)


RANDOM: tuple[Function, ...] = (
    torch.add,
    torch.mul,
    lambda a, b: torch.tanh(a),
    lambda a, b: torch.where(a > b, a, b * 0.5),
    lambda a, b: (a * a).sum(-1, keepdim=True) * 0.01,
    lambda a, b: a.amax(-1, keepdim=True),
    lambda a, b: torch.softmax(a + b, -1),
    lambda a, b: torch.sigmoid(a) - b,
    lambda a, b: F.layer_norm(a * b, (a * b).shape[-1:]),
)


@pytest.mark.parametrize("seed", range(8))
def test_random_programs(seed: int) -> None:
    """Random calls on earlier values, some of which have one scalar per row."""
    draw = torch.Generator().manual_seed(seed)
    steps = torch.randint(1000, (14, 3), generator=draw).tolist()

    def function(*given: Tensor) -> Any:
        values = list(given)
        for kind, one, other in steps:
            step = RANDOM[kind % len(RANDOM)]
            values.append(step(values[one % len(values)], values[other % len(values)]))
        return tuple(values[len(given) :])

    x, y, z = (torch.randn(*s, generator=draw).to("dl") for s in ((3, 5, 70), (70,), (3, 5, 1)))
    run(function, x, y, z, eps=64.0)


@pytest.mark.skipif(
    os.environ.get("DL_TEST_SAMPLE") != "1", reason="compiles for long: with all samples only"
)
def test_a_model_trains_with_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    is_built = racing.RacingProgram._is_built

    def built_at_once(program: racing.RacingProgram) -> bool:
        program.problem()
        return is_built(program)

    monkeypatch.setattr(racing.RacingProgram, "_is_built", built_at_once)
    monkeypatch.setattr(models, "TRAINING_STEPS", 3)
    runs = []
    counted = statistics.count_engine_run
    monkeypatch.setattr(
        statistics, "count_engine_run", lambda name: (runs.append(name), counted(name))
    )

    def backend(module: torch.fx.GraphModule, given: list[Tensor]) -> Function:
        return dl(module, given, options=OPTIONS)

    family = replace(FAMILIES["llama"], sizes=(8,))
    report = models.run("llama", family, dynamic=False, backend=backend)
    assert report.problem is None and not statistics.dropped
    assert len(runs) > 5


@pytest.mark.parametrize(
    "function",
    [
        lambda x, y: (x.var(-1, keepdim=True) + y) * 2 + 1,
        lambda x, y: (x - y) / (x.var(-1, keepdim=True) + 1e-5).sqrt(),
        lambda x, y: x.logsumexp(-1, keepdim=True) + y.abs(),
    ],
    ids=["variance", "norm", "logsumexp"],
)
@pytest.mark.parametrize("turned", [False, True])
def test_what_other_steps_made_is_written_to_once(function: Function, turned: bool) -> None:
    """This holds in the kernels' trial run too, when the graph writes in place to an earlier
    result."""
    x, y = torch.randn(70, 515).to("dl"), torch.randn(70, 515).to("dl")
    run(function, x.t().contiguous().t() if turned else x, y, eps=16.0)
