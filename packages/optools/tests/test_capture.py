"""Captured data of a program, and the absence of side effects on it."""

from __future__ import annotations

import gc
import hashlib
import io
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from bundle_cases import bundles, capture, captured, files
from dl_optools.bundle import Bundle
from dl_optools.bundle.placement import Placement
from dl_optools.capture.capture import OpCapture
from dl_optools.patching import apply_feature
from dl_optools.tensors import tensors_of
from dl_optools.tool import device_under_test


def table(bundle: Bundle, index: int | None) -> torch.Tensor:
    assert index is not None
    return Placement(bundle, torch.device("cpu"), gradients=False).tensor(index)


def results(bundle: Bundle) -> list[torch.Tensor]:
    return [table(bundle, result.tensor) for result in bundle.document.results]


def inputs(bundle: Bundle) -> list[torch.Tensor]:
    return [table(bundle, index) for index in bundle.document.inputs]


def only(directory: Path, operator: str) -> Bundle:
    (found,) = bundles(directory, operator)
    return found


def test_arguments_are_those_before_an_in_place_call(tmp_path: Path) -> None:
    x = torch.ones(3)
    captured(lambda: x.add_(2), tmp_path)
    bundle = only(tmp_path, "torch.Tensor.add_")
    assert inputs(bundle)[0].tolist() == [1, 1, 1]
    assert results(bundle)[0].tolist() == [3, 3, 3]
    assert bundle.document.results[0].same == 0
    assert bundle.document.returned == 1


def test_writes_that_nothing_returns_are_captured(tmp_path: Path) -> None:
    x, out = torch.zeros(2, 2), torch.empty(0)
    mean = torch.zeros(2)

    def program() -> None:
        x[0] = 7
        torch.add(torch.ones(2), 1, out=out)
        functional.batch_norm(torch.ones(4, 2), mean, torch.ones(2), training=True)

    capture(program, tmp_path)
    bundle = only(tmp_path, "torch.Tensor.__setitem__")
    assert bundle.document.returned == 0
    assert inputs(bundle)[0].tolist() == [[0, 0], [0, 0]]
    assert results(bundle)[0].tolist() == [[7, 7], [0, 0]]
    bundle = only(tmp_path, "torch.add")
    assert inputs(bundle)[1].shape == (0,)
    assert results(bundle)[0].tolist() == [2, 2]
    bundle = only(tmp_path, "torch.nn.functional.batch_norm")
    written = {r.same: table(bundle, r.tensor) for r in bundle.document.results[1:]}
    assert written[1].equal(mean)
    assert inputs(bundle)[1].tolist() == [0, 0]


def test_a_write_through_a_view_shows_in_its_base(tmp_path: Path) -> None:
    base = torch.zeros(4)
    part = base[1:3]
    captured(lambda: part.copy_(torch.ones(2)), tmp_path)
    bundle = only(tmp_path, "torch.Tensor.copy_")
    assert inputs(bundle)[0].tolist() == [0, 0]
    assert results(bundle)[0].tolist() == [1, 1]


def test_views_are_known_to_share_memory(tmp_path: Path) -> None:
    x = torch.arange(6.0)
    captured(lambda: x.view(2, 3).chunk(2), tmp_path)
    bundle = only(tmp_path, "torch.Tensor.chunk")
    assert [result.shares for result in bundle.document.results] == [0, 0]
    assert [result.same for result in bundle.document.results] == [None, None]
    one, two = results(bundle)
    assert one.tolist() == [[0, 1, 2]]
    assert two.tolist() == [[3, 4, 5]]


def test_gradients_of_all_results_and_inputs_are_captured(tmp_path: Path) -> None:
    x = torch.randn(2, 3, 4, requires_grad=True)
    weight = torch.randn(5, 4, requires_grad=True)
    bias = torch.randn(5, requires_grad=True)

    def program() -> None:
        y = functional.linear(x, weight, bias)
        one, two = y.split([2, 3], -1)
        (one.sum() * 2 + (two * two).sum()).backward()

    capture(program, tmp_path)
    bundle = only(tmp_path, "torch.nn.functional.linear")
    gradients = bundle.document.gradients
    assert gradients is not None
    for index, tensor in zip(gradients.inputs, (x, weight, bias), strict=True):
        assert tensor.grad is not None
        assert torch.equal(table(bundle, index), tensor.grad)
    split = only(
        tmp_path,
        "torch.functional.split"
        if bundles(tmp_path, "torch.functional.split")
        else "torch.Tensor.split",
    )
    assert split.document.gradients is not None
    assert len(split.document.gradients.outputs) == 2
    assert None not in split.document.gradients.outputs


def test_bundles_are_passed_on_when_they_are_on_disk(tmp_path: Path) -> None:
    seen: list[tuple[str, bool]] = []

    def on_bundle(path: Path, gradients: bool) -> None:
        assert path.is_file()
        seen.append((path.parent.parent.name, gradients))

    with OpCapture(device="cpu", directory=tmp_path, stream=io.StringIO(), on_bundle=on_bundle):
        torch.exp(torch.ones(3, requires_grad=True)).sum().backward()
    names = ["torch.exp", "torch.Tensor.sum"]
    assert sorted(seen) == sorted((name, later) for name in names for later in (False, True))


@pytest.mark.parametrize("error", [OSError(32, "Broken pipe"), ZeroDivisionError("no bundles")])
def test_a_listener_that_raises_stops_nothing(tmp_path: Path, error: Exception) -> None:
    def on_bundle(path: Path, gradients: bool) -> None:
        raise error

    stream = io.StringIO()
    with OpCapture(device="cpu", directory=tmp_path, stream=stream, on_bundle=on_bundle) as tool:
        torch.exp(torch.ones(3, requires_grad=True)).sum().backward()
    assert tool.results is not None
    assert (tool.results.calls, tool.results.gradients) == (2, 2) and not tool.results.dropped
    assert len(bundles(tmp_path)) == 2
    reason = f"on_bundle raised {type(error).__name__}: {error} (4 x)"
    assert stream.getvalue().endswith(f"; {reason}\n")


def test_a_call_that_raises_is_captured_with_its_error(tmp_path: Path) -> None:
    def program() -> None:
        with pytest.raises(RuntimeError):
            torch.matmul(torch.ones(2, 3), torch.ones(2, 3))

    capture(program, tmp_path)
    bundle = only(tmp_path, "torch.matmul")
    assert "RuntimeError" in (bundle.document.error or "")
    assert len(inputs(bundle)) == 2
    assert bundle.document.results == ()


def test_a_recomputation_that_ends_early_is_not_an_exception(tmp_path: Path) -> None:
    model = nn.Sequential(nn.Linear(3, 3), nn.GELU(), nn.Linear(3, 3))
    x = torch.ones(2, 3, requires_grad=True)
    capture(lambda: checkpoint(model, x, use_reentrant=False).sum().backward(), tmp_path)
    found = bundles(tmp_path, "torch.nn.functional.linear")
    assert len(found) >= 2 and all(each.document.error is None for each in found)


def test_random_states_are_stored_if_numbers_are_drawn(tmp_path: Path) -> None:
    x = torch.ones(1000)
    capture(lambda: (functional.dropout(x, 0.5), functional.relu(x)), tmp_path)
    assert only(tmp_path, "torch.nn.functional.relu").document.rng == {}
    bundle = only(tmp_path, "torch.nn.functional.dropout")
    assert list(bundle.document.rng) == ["cpu"]


def test_module_stack_and_software_are_named(tmp_path: Path) -> None:
    model = nn.Sequential(nn.Sequential(nn.Linear(2, 2)))
    capture(lambda: model(torch.ones(1, 2)), tmp_path)
    document = only(tmp_path, "torch.nn.functional.linear").document
    assert document.program["module"] == "0.0"
    frame = document.program["stack"][0]
    assert frame["file"] == __file__
    assert "model(torch.ones(1, 2))" in frame["code"]
    assert document.software["torch"] == torch.__version__
    assert document.context["grad"] is True


def test_autocast_is_part_of_a_call(tmp_path: Path) -> None:
    def program() -> None:
        with torch.autocast("cpu", torch.bfloat16), torch.no_grad():
            torch.matmul(torch.ones(2, 2), torch.ones(2, 2))

    capture(program, tmp_path)
    document = only(tmp_path, "torch.matmul").document
    assert document.context["autocast"] == {"cpu": "bfloat16"}
    assert document.context["grad"] is False


def test_overloads_are_captured_in_backward_too(tmp_path: Path) -> None:
    model = nn.Linear(3, 2)
    capture(lambda: model(torch.ones(4, 3)).sum().backward(), tmp_path, level="dispatch")
    found = {x.document.operator: x.document for x in bundles(tmp_path)}
    forward, backward = found["aten.addmm.default"], found["aten.mm.default"]
    assert forward.schema is not None
    assert forward.schema.startswith("aten::addmm(")
    assert forward.program["parent"] == backward.program["parent"] == "torch.nn.functional.linear"
    assert backward.program["backward"]
    assert not forward.program["backward"]
    assert forward.gradients is None


def test_lists_select_operators(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OP_CAPTURE_LIST", r"torch\.Tensor\..*")
    monkeypatch.setenv("OP_CAPTURE_DISABLE_LIST", r"torch\.Tensor\.neg")
    capture(lambda: torch.relu(torch.ones(2).neg().exp()), tmp_path)
    assert [x.document.operator for x in bundles(tmp_path)] == ["torch.Tensor.exp"]


def test_calls_that_cannot_be_stored_are_counted(tmp_path: Path) -> None:
    class Mine(torch.Tensor):
        pass

    special = torch.ones(2).as_subclass(Mine)
    tool = capture(lambda: torch.add(special, 1), tmp_path)
    assert bundles(tmp_path) == []
    assert tool.results is not None
    assert any("class" in reason for reason in tool.results.dropped)


def test_a_feature_on_single_functions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DL_TOOLS_OUTPUT", str(tmp_path))
    with apply_feature("torch.nn.functional.relu", "op_capture"):
        torch.exp(functional.relu(torch.ones(2, device=device_under_test())))
    assert [x.document.operator for x in bundles(tmp_path)] == ["torch.nn.functional.relu"]
    assert (tmp_path / "op_capture_results").is_dir()


def test_two_captures_do_not_share_a_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DL_TOOLS_OUTPUT", str(tmp_path))
    tool = OpCapture(device="cpu", stream=io.StringIO())
    for _ in range(2):
        with tool:
            torch.ones(1).neg()
    assert len(list((tmp_path / "op_capture_results").iterdir())) == 2


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.one = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(width)
        self.two = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.norm_two = nn.BatchNorm2d(width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        inner = functional.relu(self.norm(self.one(x)), inplace=True)
        return functional.relu(self.norm_two(self.two(inner)) + x, inplace=True)


class ResNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 32, 7, 2, 3, bias=False)
        self.norm = nn.BatchNorm2d(32)
        self.blocks = nn.Sequential(Block(32), Block(32))
        self.head = nn.Linear(32, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = functional.max_pool2d(functional.relu(self.norm(self.stem(x))), 3, 2, 1)
        return self.head(torch.flatten(functional.adaptive_avg_pool2d(self.blocks(x), 1), 1))


def step() -> dict[str, torch.Tensor]:
    """Run one training step; return all of its results."""
    torch.manual_seed(0)
    model = ResNet()
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
    x, target = torch.randn(4, 3, 64, 64), torch.randint(10, (4,))
    loss = functional.cross_entropy(functional.dropout(model(x), 0.1), target)
    loss.backward()
    gradients = {
        f"grad {name}": p.grad.clone() for name, p in model.named_parameters() if p.grad is not None
    }
    optimizer.step()
    return {"loss": loss.detach(), **gradients, **model.state_dict()}


def unique_bytes(directory: Path) -> int:
    """Return the bytes of all tensors in the bundles, each distinct content counted once."""
    seen = {}
    for bundle in bundles(directory):
        for index in range(len(bundle.document.tensors)):
            data = table(bundle, index).contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
            seen[hashlib.sha256(data).digest()] = len(data)
    return sum(seen.values())


def test_a_training_step_writes_its_unique_tensors_and_little_else(tmp_path: Path) -> None:
    # Bundles contain the call stack, which is short in a separate thread.
    with ThreadPoolExecutor(1) as thread:
        tool = thread.submit(capture, step, tmp_path).result()
    assert tool.results is not None
    assert not tool.results.dropped
    written = sum(path.stat().st_size for path in files(tmp_path))
    assert written <= 1.1 * unique_bytes(tmp_path)
    assert tool.results.repeated > tool.results.nbytes / 2


@pytest.mark.parametrize("level", ["api", "dispatch"])
def test_a_training_step_is_the_same_bit_for_bit(level: str, tmp_path: Path) -> None:
    alone = step()
    watched: dict[str, torch.Tensor] = {}
    capture(lambda: watched.update(step()), tmp_path, level=level)
    assert alone.keys() == watched.keys()
    for name, tensor in alone.items():
        assert torch.equal(tensor, watched[name]), name


@pytest.fixture
def no_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("no_collector")
def test_activations_live_no_longer_than_without(tmp_path: Path) -> None:
    weight = torch.randn(3, 3, requires_grad=True)
    with OpCapture(device="cpu", directory=tmp_path, stream=io.StringIO()) as tool:
        inner = torch.matmul(weight, weight)
        gone = weakref.ref(inner)
        out = torch.relu(inner)
        tool.flush()
        del inner
        assert gone() is None
        del out


def test_nothing_is_left_on_the_graph_after_the_end(tmp_path: Path) -> None:
    x = torch.ones(3, requires_grad=True)
    kept: list[torch.Tensor] = []
    capture(lambda: kept.append(x.exp().sum()), tmp_path)
    before = {path: path.read_bytes() for path in files(tmp_path)}
    kept[0].backward()
    assert {path: path.read_bytes() for path in files(tmp_path)} == before
    assert x.grad is not None


def test_only_tensors_of_the_device_under_test_are_looked_at(tmp_path: Path) -> None:
    capture(lambda: tensors_of(torch.ones(2).neg()), tmp_path, device="meta")
    assert bundles(tmp_path) == []
