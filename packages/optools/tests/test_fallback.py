from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812  (the name that everybody uses)
from torch.utils.checkpoint import checkpoint

import autocompare_models as models
from diopi_proto.tolerance.torch_operators.schema import Overload, signature
from dl_optools import OpFallback, apply_feature, fallback
from dl_optools.commands import tool
from dl_optools.launching.launch import ENDED, STARTED
from dl_optools.launching.notes import note
from dl_optools.launching.reports import note_report
from dl_optools.names import Level
from dl_optools.on_host import only_on_device, run_on_host
from watching import leaf

LEVELS = pytest.mark.parametrize("level", ["api", "dispatch"])


@pytest.fixture
def on_host(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Records the names of the overloads that ran on the CPU."""
    names: list[str] = []
    run = fallback.run_on_host

    def noting(overload: Overload[Any, Any], args: Any, kwargs: Any, **options: bool) -> Any:
        if not signature(overload).view:
            names.append(str(overload))
        return run(overload, args, kwargs, **options)

    monkeypatch.setattr(fallback, "run_on_host", noting)
    return names


@LEVELS
def test_operators_run_on_the_cpu(level: str, device: str, on_host: list[str]) -> None:
    x = torch.arange(6.0, device=device).reshape(2, 3)
    with OpFallback(level=level, device=device):
        y = torch.add(x, 1)
    assert on_host == ["aten.add.Tensor"]
    assert y.device == x.device and y.cpu().tolist() == [[1, 2, 3], [4, 5, 6]]


@LEVELS
def test_lists_say_which(level: str, device: str, on_host: list[str]) -> None:
    x = torch.ones(2, device=device)
    with OpFallback(level=level, device=device, ops=r".*\.mul\b.*", exclude=".*add.*"):
        torch.mul(torch.add(x, x), x)
    assert on_host == ["aten.mul.Tensor"]


# Effects visible to the program


@LEVELS
def test_in_place_writes_arrive(level: str, device: str) -> None:
    x = torch.zeros(3, 2, device=device)
    with OpFallback(level=level, device=device):
        result = x.add_(1)
        x[0] = 7
        x[1:].mul_(torch.tensor([2.0, 3.0], device=device))
    assert result is x and x.cpu().tolist() == [[7, 7], [2, 3], [2, 3]]


@LEVELS
def test_views_alias_their_base(level: str, device: str) -> None:
    x = torch.zeros(3, 4, device=device)
    with OpFallback(level=level, device=device):
        views = [x[1], x.t(), x.reshape(-1), torch.transpose(x, 0, 1), x.flatten(), x.view(4, 3)]
        parts = [*torch.split(x, 1), *torch.unbind(x)]
        x.add_(1)
        views[0].add_(1)
    assert all(v.untyped_storage().data_ptr() == x.data_ptr() for v in (*views, *parts))
    assert x.cpu()[1].tolist() == [2.0] * 4 and views[1].cpu()[0, 1] == 2


def test_results_share_memory_beyond_the_schema(device: str) -> None:
    x = torch.zeros(2, 3, device=device)
    with OpFallback(level="dispatch", device=device):
        y = torch.ops.aten._unsafe_view.default(x, [6])
        y.add_(1)
    assert x.cpu().tolist() == [[1, 1, 1], [1, 1, 1]]


@LEVELS
def test_arguments_that_share_memory_share_it_on_the_cpu(level: str, device: str) -> None:
    x = torch.arange(4.0, device=device)
    with OpFallback(level=level, device=device):
        torch._foreach_add_([x, x[:2]], 1)
    assert x.cpu().tolist() == [2, 3, 3, 4]


@LEVELS
def test_out_arguments_are_written_and_resized(level: str, device: str) -> None:
    x = torch.ones(2, 3, device=device)
    out, empty = torch.zeros(2, 3, device=device), torch.empty(0, device=device)
    values, indices = torch.empty(0, device=device), torch.empty(0, device=device).long()
    with OpFallback(level=level, device=device):
        assert torch.add(x, x, out=out) is out
        torch.add(x, x, out=empty)
        torch.max(x, dim=1, out=(values, indices))
    assert torch.equal(out, x + x) and torch.equal(empty, x + x)
    assert values.shape == indices.shape == (2,) and values.cpu().tolist() == [1, 1]


@LEVELS
def test_results_have_the_types_of_torch(level: str, device: str) -> None:
    x = torch.tensor([[1.0, 3.0], [2.0, 0.0]], device=device)
    with OpFallback(level=level, device=device):
        extremes = torch.max(x, dim=1)
        factors = torch.linalg.qr(x)
        parts = x.split(1)
        number = x.sum().item()
        choice = torch.nonzero(x)
    assert isinstance(extremes, torch.return_types.max)
    assert extremes.values.cpu().tolist() == [3, 2] and extremes.indices.cpu().tolist() == [1, 0]
    assert isinstance(factors, torch.return_types.linalg_qr) and factors.Q.device == x.device
    assert isinstance(parts, tuple) and number == 6.0 and choice.shape == (3, 2)


def test_functions_of_other_packages_keep_sets_and_named_tuples(
    device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import collections
    import sys
    import types

    pair = collections.namedtuple("pair", ["sums", "rest"])
    module: Any = types.ModuleType("other_package")
    module.both = lambda tensors: pair({x + 1 for x in tensors}, [len(tensors)])
    monkeypatch.setitem(sys.modules, "other_package", module)
    with apply_feature("other_package.both", "fallback", device=device):
        found = module.both({torch.ones(1, device=device), torch.ones(1, device=device)})
    assert isinstance(found, pair) and isinstance(found.sums, set) and found.rest == [2]
    assert {float(x) for x in found.sums} == {2.0}


@LEVELS
def test_strides_are_those_of_the_operator(level: str, device: str) -> None:
    x = torch.randn(2, 3, 4, 4, device=device).to(memory_format=torch.channels_last)
    expected = torch.relu(x).stride(), F.max_pool2d(x, 2).stride()
    with OpFallback(level=level, device=device):
        found = torch.relu(x).stride(), F.max_pool2d(x, 2).stride()
    assert found == expected


@LEVELS
def test_changing_a_tensors_description_stays_a_matter_of_the_device(
    level: str, device: str
) -> None:
    x, source = torch.zeros(2, 3, device=device), torch.ones(4, device=device)
    view = x[0]
    with OpFallback(level=level, device=device):
        x.t_()
        x.add_(1)
        view.unsqueeze_(0)
        target = torch.empty(0, device=device)
        target.set_(source)
        target.mul_(3)
        source.resize_(2)
    assert x.shape == (3, 2) and view.cpu().tolist() == [[1, 1, 1]]
    assert source.cpu().tolist() == [3, 3]


@LEVELS
def test_copies_between_devices_reach_their_device(level: str, device: str) -> None:
    host = torch.arange(3.0)
    with OpFallback(level=level, device=device):
        there = host.to(device)
        back = there.to("cpu")
        nowhere = torch.zeros_like(there, device="meta")
        there.copy_(host + 1)
        made = there.new_ones(2)
        host.copy_(there * 2)
    assert (there.device.type, back.device.type, nowhere.device.type) == (device, "cpu", "meta")
    assert made.device.type == device
    if device != "cpu":
        # On the CPU they are a single tensor.
        assert there.cpu().tolist() == [1, 2, 3] and back.tolist() == [0, 1, 2]
        assert host.tolist() == [2, 4, 6]


@LEVELS
def test_casts_give_their_dtype(level: str, device: str) -> None:
    x = torch.tensor([1.5, 2.5], device=device)
    with OpFallback(level=level, device=device):
        found = [x.half(), x.to(torch.int64), x.double(), x.type_as(torch.ones(1).bfloat16())]
    dtypes = [torch.float16, torch.int64, torch.float64, torch.bfloat16]
    assert [y.dtype for y in found] == dtypes


@LEVELS
def test_errors_of_the_operator_arrive(level: str, device: str) -> None:
    with OpFallback(level=level, device=device):
        with pytest.raises(RuntimeError, match="size of tensor"):
            torch.add(torch.ones(2, device=device), torch.ones(3, device=device))
        assert torch.ones(2, device=device).add(1).sum().item() == 4


def test_conditions_choose_calls(device: str, on_host: list[str]) -> None:
    x = torch.ones(2, device=device)
    with apply_feature("torch.add", "fallback", lambda x, other: other == 2, device=device):
        torch.add(x, 1)
        assert on_host == []
        torch.add(x, 2)
    assert on_host == ["aten.add.Tensor"]


# Random numbers

DROPOUT = {
    "api": "torch.nn.functional.dropout",
    "dispatch": "aten.native_dropout.default,aten.bernoulli_.float",
}


@LEVELS
def test_random_operators_stay_on_the_device_unless_they_are_named(level: str, device: str) -> None:
    x = torch.ones(256, device=device)

    def dropped() -> torch.Tensor:
        torch.manual_seed(0)
        return torch.nn.functional.dropout(x, 0.5).cpu()

    expected = dropped()
    with OpFallback(level=level, device=device, ops=".*"):
        assert torch.equal(dropped(), expected)
    with OpFallback(level=level, device=device, ops=DROPOUT[level]) as tool:
        tool.says_unmatched = False
        named = dropped()
        assert torch.equal(dropped(), named)
    assert set(named.tolist()) == {0.0, 2.0}
    if device != "cpu":
        assert not torch.equal(named, expected)


@LEVELS
@pytest.mark.parametrize(
    "draw",
    [
        lambda x: torch.rand_like(x),
        lambda x: torch.nn.functional.dropout(x),
        lambda x: x.clone().normal_(),
        lambda x: torch.bernoulli(x / 2),
    ],
)
def test_random_numbers_follow_the_devices_seed(
    level: str, device: str, draw: Callable[[torch.Tensor], torch.Tensor]
) -> None:
    x = torch.ones(64, device=device)

    def draw_twice(seed: int) -> list[torch.Tensor]:
        torch.manual_seed(seed)
        return [draw(x).cpu(), draw(x).cpu()]

    with OpFallback(level=level, device=device):
        first, again, other = draw_twice(1), draw_twice(1), draw_twice(2)
    assert all(map(torch.equal, first, again))
    assert not torch.equal(first[0], first[1]) and not torch.equal(first[0], other[0])


def test_the_cpus_own_stream_is_left_alone(device: str) -> None:
    if device == "cpu":
        pytest.skip("there the device's stream is the CPU's")
    x = torch.ones(8, device=device)
    torch.manual_seed(0)
    expected = torch.rand(2)
    torch.manual_seed(0)
    with OpFallback(device=device):
        torch.rand_like(x)
    assert torch.equal(torch.rand(2), expected)


@LEVELS
def test_generators_decide_and_move_on(level: str, device: str) -> None:
    x = torch.zeros(64, device=device)

    def draw(seed: int) -> list[torch.Tensor]:
        generator = torch.Generator(device).manual_seed(seed)
        return [x.clone().uniform_(generator=generator).cpu() for _ in range(2)]

    with OpFallback(level=level, device=device):
        first, again, other = draw(1), draw(1), draw(2)
    assert all(map(torch.equal, first, again))
    assert not torch.equal(first[0], first[1]) and not torch.equal(first[0], other[0])


# Training


def trained(device: str, optimizer: str, inplace: bool = False) -> list[torch.Tensor]:
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Linear(5, 8), torch.nn.ReLU(inplace=inplace), torch.nn.Linear(8, 3)
    )
    x, target = torch.randn(6, 5), torch.arange(6) % 3
    model, x, target = model.to(device), x.to(device), target.to(device)
    steps = getattr(torch.optim, optimizer)(model.parameters(), lr=0.1)
    for _ in range(3):
        steps.zero_grad()
        F.cross_entropy(model(x), target).backward()
        steps.step()
    return [parameter.detach().cpu() for parameter in model.parameters()]


@LEVELS
@pytest.mark.parametrize("optimizer", ["SGD", "AdamW"])
@pytest.mark.parametrize("inplace", [False, True])
def test_optimizers_train(level: str, device: str, optimizer: str, inplace: bool) -> None:
    expected = trained("cpu", optimizer, inplace)
    with OpFallback(level=level, device=device):
        found = trained(device, optimizer, inplace)
    # The CPU computed the result, which is therefore bitwise equal.
    assert all(map(torch.equal, found, expected))


def test_backward_of_a_function_runs_on_the_cpu_too(device: str, on_host: list[str]) -> None:
    x, weight = leaf(2, 3), leaf(4, 3)
    moved = [t.detach().to(device).requires_grad_() for t in (x, weight)]
    with OpFallback(device=device, ops=r"torch\.nn\.functional\.linear"):
        y = torch.exp(F.linear(*moved))
        forward = list(on_host)
        y.sum().backward()
    assert "aten.mm.default" in forward and "aten.exp.default" not in on_host
    assert on_host[len(forward) :].count("aten.mm.default") == 2
    torch.exp(F.linear(x, weight)).sum().backward()
    for one, other in zip(moved, (x, weight), strict=True):
        assert one.grad is not None and other.grad is not None and one.grad.device == one.device
        assert torch.allclose(one.grad.cpu(), other.grad)


def test_backward_of_an_in_place_function_runs_on_the_cpu_too(
    device: str, on_host: list[str]
) -> None:
    x = torch.ones(3, device=device, requires_grad=True)
    with OpFallback(device=device, ops=r"torch\.Tensor\.sigmoid_"):
        y = x * 1
        y.sigmoid_()
        y.sum().backward()
    assert on_host == ["aten.sigmoid_.default", "aten.sigmoid_backward.default"]


@pytest.mark.parametrize("reentrant", [False, True])
def test_recomputation_in_backward_runs_on_the_cpu_too(
    device: str, on_host: list[str], reentrant: bool
) -> None:
    x = torch.ones(3, device=device, requires_grad=True)
    with OpFallback(device=device, ops=r"torch\.sigmoid"):
        checkpoint(lambda t: torch.sigmoid(t).exp(), x, use_reentrant=reentrant).sum().backward()
    assert on_host.count("aten.sigmoid.default") == 2
    assert on_host.count("aten.sigmoid_backward.default") == 1


def test_apply_feature_takes_backward_along(device: str, on_host: list[str]) -> None:
    x = torch.ones(3, device=device, requires_grad=True)
    with apply_feature("torch.sigmoid", "fallback", device=device):
        torch.sigmoid(x).sum().backward()
    assert on_host == ["aten.sigmoid.default", "aten.sigmoid_backward.default"]


def test_gradients_keep_their_history(device: str) -> None:
    x = torch.tensor([2.0], device=device, requires_grad=True)
    with OpFallback(device=device):
        (first,) = torch.autograd.grad(x.pow(3).sum(), x, create_graph=True)
        (second,) = torch.autograd.grad(first.sum(), x)
    assert (first.item(), second.item()) == (12.0, 12.0)


@pytest.mark.parametrize("level", list(Level))
@pytest.mark.parametrize("model", list(models.MODELS))
def test_models_train_with_everything_on_the_cpu(model: str, level: Level, device: str) -> None:
    """Device-only operators stay on the device."""
    with OpFallback(level=level, device=device):
        models.trained(model, device, torch.float32)()


# Device-only operators

FUSED = torch.ops.aten._scaled_dot_product_fused_attention_overrideable.default
FUSED_BACKWARD = torch.ops.aten._scaled_dot_product_fused_attention_overrideable_backward.default


@pytest.mark.parametrize("heads", [4, 2])
@pytest.mark.parametrize("mask", ["none", "causal", "bias", "bool"])
def test_fused_attention_runs_on_the_cpu(heads: int, mask: str) -> None:
    torch.manual_seed(0)
    shapes = [(2, 4, 5, 8), (2, heads, 6, 8), (2, heads, 6, 8)]
    query, key, value = (torch.randn(x, dtype=torch.float64, requires_grad=True) for x in shapes)
    bias = torch.randn(5, 6, dtype=torch.float64, requires_grad=True) if mask == "bias" else None
    causal = mask == "causal"
    given = torch.rand(5, 6) > 0.2 if mask == "bool" else bias
    want = F.scaled_dot_product_attention(
        query, key, value, given, is_causal=causal, enable_gqa=heads != 4
    )
    grad = torch.randn_like(want)
    leaves = [query, key, value, *([bias] if bias is not None else [])]
    gradients = torch.autograd.grad(want, leaves, grad)
    with torch.no_grad():
        out, lse, *rest = run_on_host(FUSED, (query, key, value, given, 0.0, causal, False), {})
        found = run_on_host(
            FUSED_BACKWARD,
            (
                *(grad, query, key, value, given, [True, True, True, bias is not None], out, lse),
                *(*rest[:4], 0.0, causal, *rest[4:6]),
            ),
            {},
        )
    torch.testing.assert_close(out, want)
    torch.testing.assert_close(found[: len(leaves)], gradients)


def test_composites_fall_back(device: str) -> None:
    overload = torch.ops.aten.select_backward.default
    assert not only_on_device(overload)
    grad = torch.ones(3, device=device)
    assert run_on_host(overload, (grad, [2, 3], 0, 1), {}).tolist() == [[0] * 3, [1] * 3]


def test_operators_that_cannot_fall_back_are_reported() -> None:
    cell = torch.ops.aten._thnn_fused_gru_cell.default
    given = torch.ones(2, 9), torch.ones(2, 9), torch.ones(2, 3)
    for ops, said in ((r"aten\._thnn_fused_gru_cell\.default", True), (r".*gru.*", False)):
        tool = OpFallback(level="dispatch", device="cpu", ops=ops)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            with tool, pytest.raises(NotImplementedError):
                cell(*given)
        texts = [str(x.message) for x in told]
        assert any("_thnn_fused_gru_cell.default ran on the device" in x for x in texts) is said
        assert bool(tool.report()["stayed"]) is said


def test_a_named_operator_that_stayed_is_a_failure(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    stayed: list[str] = []

    def program(command: list[str], environ: dict[str, str]) -> int:
        note(environ, f"{STARTED}fallback, process 1")
        note_report(environ, "fallback", {"stayed": stayed})
        note(environ, f"{ENDED}process 1")
        return 0

    monkeypatch.setattr(tool, "run_program", program)
    said: list[str] = []
    environ = {"DL_TOOLS_OUTPUT": str(tmp_path)}
    assert tool.launch(["x"], environ, said.append) == 0 and "".join(said) == ""
    stayed.append("aten.cell.default")
    assert tool.launch(["x"], environ, said.append) == 2
    assert "".join(said).startswith("dl tool: fallback: aten.cell.default ran on the device")
