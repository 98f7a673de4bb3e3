"""Kernels of the engine codegen give what the executor gives, and are used only if they do."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from dl_dicp import statistics
from dl_dicp.backend import dl
from dl_dicp.codegen import engine, expressions, groups, racing
from dl_dicp.engines import registry
from dl_dicp.explain import explain
from dl_dicp.testing import models
from dl_dicp.testing.model_list import FAMILIES

aten = torch.ops.aten
Function = Callable[..., Any]
OPTIONS: dict[str, Any] = {"engine": "codegen", "patterns": False}


@pytest.fixture(autouse=True)
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small groups have kernels, too, and right ones run whether they are faster or not."""
    monkeypatch.setattr(groups, "FEWEST_ELEMENTS", 0)
    monkeypatch.setattr(engine, "FEWEST_ELEMENTS", 0)
    monkeypatch.setattr(racing.RacingProgram, "_raced", racing.RacingProgram._trusted)


def assert_near(place: int, made: Tensor, wanted: Tensor, eps: float) -> None:
    """Equal, but for so many rounding steps of the largest number where they are floats."""
    assert made.dtype == wanted.dtype and made.shape == wanted.shape
    assert made.stride() == wanted.stride()
    a, b = made.cpu(), wanted.cpu()
    if not a.is_floating_point():
        assert torch.equal(a, b), place
        return
    finite = b[b.isfinite()].abs()
    slack = eps * torch.finfo(b.dtype).eps * (float(finite.max()) if len(finite) else 0)
    torch.testing.assert_close(
        a, b, rtol=0, atol=slack, equal_nan=True, msg=lambda text: f"{place}: {text}"
    )


def run(function: Function, *given: Tensor, eps: float = 4.0, kernels: bool = True) -> str:
    """Compiled and eager runs agree in results and in what they write.

    :param eps: rounding steps of the largest result.
    :param kernels: whether kernels have to have run.
    :returns: what `dl dicp explain` says.
    """
    compiled = torch.compile(function, backend="dl", options=OPTIONS)

    def once() -> None:
        mine, theirs = ([x.clone() for x in given] for _ in range(2))
        with torch.no_grad():
            made, wanted = compiled(*mine), function(*theirs)
        one = [*(made if isinstance(made, tuple) else (made,)), *mine]
        other = [*(wanted if isinstance(wanted, tuple) else (wanted,)), *theirs]
        for place, (a, b) in enumerate(zip(one, other, strict=True)):
            assert_near(place, a, b, eps)

    once()
    once()
    racing.wait_for_kernels()
    before = statistics.engine_runs["codegen"]
    for _ in range(3):
        once()
    assert not statistics.dropped, statistics.dropped
    assert (statistics.engine_runs["codegen"] > before) == kernels
    return explain()


def special(*shape: int) -> Tensor:
    """Numbers of all sizes, infinities, NaN and both zeros."""
    x = torch.randn(shape) * torch.logspace(-2, 2, shape[-1])
    flat = x.view(-1)
    flat[:7] = torch.tensor([float("nan"), float("inf"), -float("inf"), 0.0, -0.0, 1e-40, 88.8])
    return x.to("dl")


UNARY: tuple[Function, ...] = (
    torch.relu,
    torch.tanh,
    torch.sigmoid,
    F.silu,
    torch.exp,
    torch.expm1,
    torch.erf,
    torch.neg,
    torch.abs,
    F.hardswish,
    F.hardsigmoid,
    F.gelu,
    lambda x: F.gelu(x, approximate="tanh"),
    lambda x: F.leaky_relu(x, 0.3),
    lambda x: F.hardtanh(x, -0.5, 2.0),
    lambda x: x.clamp(-1.0, 3.0),
    lambda x: x.clamp(min=0.5),
    lambda x: x.clamp(max=0.5),
    lambda x: x + 3,
    lambda x: x - 0.7,
    lambda x: x * -2.5,
    lambda x: x / 3.0,
    lambda x: x**2,
    lambda x: x**3,
    lambda x: x.isnan(),
    lambda x: x > 0.25,
    lambda x: x == 0,
    lambda x: x.logical_not(),
)
POSITIVE: tuple[Function, ...] = (
    torch.log,
    torch.log1p,
    torch.log2,
    torch.log10,
    torch.sqrt,
    torch.rsqrt,
    torch.reciprocal,
    lambda x: x**0.5,
    lambda x: x**-0.5,
    lambda x: x**1.7,
)
BINARY: tuple[Function, ...] = (
    lambda x, y: torch.add(x, y, alpha=0.5),
    lambda x, y: torch.sub(x, y, alpha=2.0),
    torch.mul,
    torch.div,
    torch.maximum,
    torch.minimum,
    torch.ge,
    torch.ne,
    lambda x, y: torch.where(x < y, x, y),
    lambda x, y: x.masked_fill(y > 1, -7.0),
    lambda x, y: (x > 0) & (y > 0),
    lambda x, y: (x > 0) | (y < 0),
    lambda x, y: torch.lerp(x, y, 0.3),
    lambda x, y: torch.addcmul(x, y, y, value=0.1),
    lambda x, y: torch.addcdiv(x, y, x, value=0.1),
    lambda x, y: aten.gelu_backward(x, y),
    lambda x, y: aten.gelu_backward(x, y, approximate="tanh"),
    lambda x, y: aten.tanh_backward(x, y),
    lambda x, y: aten.sigmoid_backward(x, y),
    lambda x, y: aten.silu_backward(x, y),
    lambda x, y: aten.threshold_backward(x, y, 0.5),
)


def all_of(functions: tuple[Function, ...]) -> Function:
    """One function, whose results are those of all."""
    return lambda *given: tuple(function(*given) for function in functions)


def test_functions_of_elements() -> None:
    """Expressions of one and of two tensors, numbers of all kinds among their elements."""
    text = run(all_of(UNARY), special(5, 67))
    text += run(all_of(POSITIVE), special(5, 67).abs())
    text += run(all_of(BINARY), special(5, 67), torch.randn(5, 67).to("dl"))
    for name in ("Gelu", "Tanh", "ClampScalar", "Pow", "Where", "LerpScalar", "SiluBackward"):
        assert f"diopi{name}" in text


def test_data_that_the_check_has_not_seen() -> None:
    """A kernel is right for what other arguments bring out, not for those that it was checked
    with."""

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
    """Their memory is filled and copied as integers, of which no other call tells the dtype."""
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


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_halves_are_computed_in_float(dtype: torch.dtype) -> None:
    def function(x: Tensor, y: Tensor, w: Tensor) -> Any:
        z = F.silu(x) * y
        return z, torch.softmax(z, -1), F.layer_norm(z + x, w.shape, w), (x > y).to(dtype) * x

    x, y = (torch.randn(6, 130).to(dtype).to("dl") for _ in range(2))
    run(function, x, y, torch.rand(130).to(dtype).to("dl"), eps=3.0)


ALONG: dict[str, Function] = {
    "softmax": lambda x, y: torch.softmax(x * 2 + y, -1) * y,
    "log softmax": lambda x, y: torch.log_softmax(x, -1) + y,
    "sum": lambda x, y: x * (x * y).sum(-1, keepdim=True) + 1,
    "mean": lambda x, y: (x - x.mean(-1, keepdim=True)) * y,
    "largest": lambda x, y: x - (x * y).amax(-1, keepdim=True),
    "rows without their dimension": lambda x, y: (-((x + y).sum(-1)) * 2, x * y),
    "norm": lambda x, y: F.layer_norm(x + y, x.shape[-1:]) + y,
    "RMS norm": lambda x, y: F.rms_norm(x + y, x.shape[-1:]) * y,
    "softmax backward": lambda x, y: aten._softmax_backward_data(x + 1, y, -1, x.dtype) * x,
    "log softmax backward": lambda x, y: aten._log_softmax_backward_data(x + 1, y, -1, x.dtype) * x,
    "rows that are joined": lambda x, y: torch.cat([-x, y + 1, x * y], -1) * 2,
    "halves that are turned": lambda x, y: (
        torch.cat([-x[..., x.shape[-1] // 2 :], x[..., : x.shape[-1] // 2]], -1) * y + x
    ),
    "two rows of sums": lambda x, y: (x - x.mean(-1, keepdim=True)) / (x * x).sum(-1, keepdim=True),
}


@pytest.mark.parametrize("shape", [(4, 6, 64), (3, 1, 1031), (2, 5000)], ids=str)
def test_operators_along_rows(shape: tuple[int, ...]) -> None:
    x, y = (torch.randn(shape).to("dl") for _ in range(2))

    def function(x: Tensor, y: Tensor) -> Any:
        made = [each(x, y) for each in ALONG.values()]
        return tuple(x for each in made for x in (each if isinstance(each, tuple) else (each,)))

    run(function, x, y, eps=16.0)


def test_means_of_norms_that_cancel_out_may_differ() -> None:
    """As sums of numbers without a mean do, in whatever order."""
    x, y = torch.randn(64, 96), torch.randn(64, 96)
    x -= (x + y).mean(-1, keepdim=True)
    given = x.to("dl"), y.to("dl")
    function = lambda x, y: aten.native_layer_norm(x + y, [96], None, None, 1e-5)  # noqa: E731
    compiled = torch.compile(function, backend="dl", options=OPTIONS)
    for _ in range(3):
        compiled(*given)
    racing.wait_for_kernels()
    made, wanted = compiled(*given), function(*given)
    assert float(wanted[1].cpu().abs().max()) < 1e-6
    for a, b in zip(made, wanted, strict=True):
        torch.testing.assert_close(a.cpu(), b.cpu(), rtol=1e-5, atol=1e-5)
    compiled(*given)
    assert statistics.engine_runs["codegen"] and not statistics.dropped


def test_rows_with_infinities_and_nan() -> None:
    x = torch.full((4, 40), -float("inf"))
    x[1, 3] = 2.0
    x[2] = torch.randn(40)
    x[2, 7] = float("nan")
    x[3, 5] = float("inf")
    run(
        lambda x: (
            torch.softmax(x * 2, -1) + 1,
            (x * 2).amax(-1, keepdim=True),
            x.sum(-1),
            torch.log_softmax(x + 1, -1),
        ),
        x.to("dl"),
    )


LAYOUTS: dict[str, tuple[Function, Callable[[], tuple[Tensor, ...]]]] = {
    "a row for all": (
        lambda x, y: torch.relu(x + y) * y,
        lambda: (torch.randn(7, 33), torch.randn(33)),
    ),
    "a column for all": (
        lambda x, y: torch.relu(x + y) * y,
        lambda: (torch.randn(7, 33), torch.randn(7, 1)),
    ),
    "a number of the device": (
        lambda x, y: torch.relu(x + y) * y,
        lambda: (torch.randn(7, 33), torch.randn(())),
    ),
    "channels that lie last": (
        lambda x, y: torch.relu(x + y) * y,
        lambda: (
            torch.randn(2, 8, 5, 6).to(memory_format=torch.channels_last),
            torch.randn(1, 8, 1, 1).to(memory_format=torch.channels_last),
        ),
    ),
    "a part of each row": (
        lambda x, y: torch.relu(x[:, 3:20] + y) * 2,
        lambda: (torch.randn(7, 33), torch.randn(7, 17)),
    ),
    "every second row": (
        lambda x, y: torch.relu(x[::2] + y) * 2,
        lambda: (torch.randn(8, 33), torch.randn(4, 33)),
    ),
    "one dimension": (lambda x, y: torch.relu(x + y) * y, lambda: (torch.randn(9000),) * 2),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_layouts(name: str) -> None:
    function, given = LAYOUTS[name]
    run(function, *(x.to("dl") for x in given()))


def test_columns_stay_with_the_executor() -> None:
    x, y = torch.randn(40, 30).to("dl"), torch.randn(30, 40).to("dl")
    run(lambda x, y: torch.relu(x.t() + y) * y, x, y, kernels=False)


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
    """Random calls on values that were made before, some of which have one number for each row."""
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


def chain(x: Tensor, y: Tensor) -> Tensor:
    return torch.tanh(x * y) + x


def settled(function: Function = chain) -> None:
    """Runs until kernels could have been taken, which agree with eager ones."""
    compiled = torch.compile(function, backend="dl", options=OPTIONS)
    x, y = (torch.randn(6, 40).to("dl") for _ in range(2))
    for _ in range(3):
        torch.testing.assert_close(compiled(x, y).cpu(), function(x, y).cpu())
    racing.wait_for_kernels()
    for _ in range(3):
        torch.testing.assert_close(compiled(x, y).cpu(), function(x, y).cpu())


def dropped() -> str:
    """Why the one graph has no kernels."""
    ((name, why),) = statistics.dropped
    assert name == "codegen" and why in explain()
    return why


def test_a_wrong_kernel_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = expressions.Elementwise("math::sigmoid({input})")
    monkeypatch.setitem(expressions.RULES, "diopiTanh", [wrong])
    settled()
    assert "differs from the contract's" in dropped()
    assert not statistics.engine_runs["codegen"]


def test_text_that_does_not_compile(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = expressions.Elementwise("tangent({input})")
    monkeypatch.setitem(expressions.RULES, "diopiTanh", [wrong])
    settled()
    assert "fused.cpp does not compile" in dropped()


def test_no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    registry.forget()
    monkeypatch.setenv("DL_CPU_CXX", "off")
    settled()
    assert "DL_CPU_CXX=off" in dropped()
    registry.forget()


def test_kernels_that_are_slower_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(groups, "FEWEST_ELEMENTS", 0)
    monkeypatch.setattr(engine, "FEWEST_ELEMENTS", 0)
    clock = iter(range(0, 10**9, 1000))
    kernels = iter([True, False] * racing.RUNS)

    def now() -> int:
        """Kernels take 5 microseconds, the executor 1."""
        return next(clock) if next(started) else next(clock) + (4000 if next(kernels) else 0)

    started = iter([True, False] * 4 * racing.RUNS)
    monkeypatch.setattr(racing.time, "perf_counter_ns", now)
    compiled = torch.compile(chain, backend="dl", options=OPTIONS)
    x, y = (torch.randn(6, 40).to("dl") for _ in range(2))
    for _ in range(3):
        compiled(x, y)
    racing.wait_for_kernels()
    for _ in range(2 * racing.RUNS + 2):
        torch.testing.assert_close(compiled(x, y).cpu(), chain(x, y).cpu())
    assert dropped() == "its kernels took 5 microseconds, the executor 1"


def test_few_elements_are_left_to_the_executor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "FEWEST_ELEMENTS", 1 << 17)
    settled()
    assert not statistics.engine_runs and not statistics.dropped


def test_sizes_that_vary_are_left_to_the_executor() -> None:
    compiled = torch.compile(chain, backend="dl", options=OPTIONS, dynamic=True)
    for rows in (4, 9, 4):
        x, y = (torch.randn(rows, 40).to("dl") for _ in range(2))
        torch.testing.assert_close(compiled(x, y).cpu(), chain(x, y).cpu())
    assert dropped() == "the sizes of the graph vary"


def test_warm_builds_what_a_program_asks_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "program.py"
    script.write_text(
        "import torch\n"
        "f = torch.compile(lambda x: torch.tanh(x * 2) + x, backend='dl',\n"
        "                  options={'engine': 'codegen'})\n"
        "f(torch.rand(512, 512, device='dl'))\n"
    )
    command = [sys.executable, "-m", "dl_core", "dicp", "warm", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "kernels of 1 graphs are built\n"), done.stderr
    monkeypatch.setenv("DL_CPU_CXX", "off")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and done.stdout == "kernels of 0 graphs are built\n"
    assert "DL_CPU_CXX=off" in done.stderr
