from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812  (the name that everybody uses)
from torch.utils._python_dispatch import TorchDispatchMode

from dl_optools import OneIter
from dl_optools.one_iter.compare import BOUND, RELATIVE, StepComparison, compare
from dl_optools.one_iter.folder import OneIterError, Reader, Record
from programs import dl


class Block(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(6, 6)
        self.norm = torch.nn.LayerNorm(6)

    def forward(self, x: torch.Tensor, *, scale: torch.Tensor) -> torch.Tensor:
        return x + F.gelu(self.linear(self.norm(x))) * scale


class Model(torch.nn.Module):
    """The second block runs twice."""

    def __init__(self) -> None:
        super().__init__()
        self.first = Block()
        self.shared = Block()
        self.head = torch.nn.Linear(6, 3)
        self.register_buffer("steps", torch.zeros((), dtype=torch.int64))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        scale = torch.full((1,), 0.5, device=x.device)
        x = self.first(x, scale=scale)
        for _ in range(2):
            x = self.shared(x, scale=scale)
        self.steps.add_(1)
        return self.head(x)


class Faulty(TorchDispatchMode):
    """A device on which one overload is wrong."""

    def __init__(self, name: str, wrong: Callable[[Any], Any] = lambda x: x * 1.01) -> None:
        super().__init__()
        self.name, self.wrong = name, wrong

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if str(func) != self.name:
            return result
        return (
            (self.wrong(result[0]), *result[1:])
            if isinstance(result, tuple)
            else self.wrong(result)
        )


def make_model(device: str = "cpu", seed: int = 0) -> Model:
    torch.manual_seed(seed)
    return Model().to(device)


def step(model: Model) -> float:
    generator = torch.Generator().manual_seed(1)
    device = model.head.weight.device
    x = torch.randn(4, 6, generator=generator).to(device)
    target = torch.tensor([0, 1, 2, 0], device=device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    loss = F.cross_entropy(model(x), target)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss.item()


def record(folder: Path, name: str, model: Model, **options: Any) -> Path:
    with OneIter(model, folder / name, rank=0, **options):
        step(model)
    return folder / name


@pytest.fixture(name="dump")
def make_dump(tmp_path: Path) -> Path:
    return record(tmp_path, "trusted", make_model())


def only(trusted: Path, tested: Path, tolerance: float | None = None) -> StepComparison:
    (found,) = compare(trusted, tested, tolerance)
    return found


def records(folder: Path) -> list[Record]:
    return Reader(folder / "rank0").records


def test_every_event_of_a_step_is_there(dump: Path) -> None:
    found = {record.key for record in records(dump)}
    for kind, module, name, call, phase in [
        ("module", "", "", 0, "forward"),
        ("module", "first.linear", "first.linear", 0, "backward"),
        ("module", "shared", "shared", 0, "forward"),
        ("module", "shared", "shared", 1, "forward"),
        ("module", "shared", "shared", 1, "backward"),
        ("operator", "shared.linear", "torch.nn.functional.linear", 1, "backward"),
        ("operator", "first", "torch.nn.functional.gelu", 0, "forward"),
        ("operator", "", "torch.nn.functional.cross_entropy", 0, "backward"),
        ("weight", "", "head.bias", 0, "forward"),
        ("weight", "", "steps", 0, "forward"),
        ("weight gradient", "", "shared.linear.weight", 0, "backward"),
        ("weight after", "", "head.bias", 0, "forward"),
    ]:
        assert (kind, module, name, call, phase) in found
    names = [x.name for x in records(dump) if x.phase == "backward" and x.kind == "module"]
    # In execution order, the backward of the head comes first.
    assert names[0] == "head" and names.index("shared") < names.index("first")


def test_values_are_those_of_the_step(dump: Path) -> None:
    reader = Reader(dump / "rank0")
    model = make_model()
    linear = reader.find(("operator", "head", "torch.nn.functional.linear", 0, "forward"))
    assert linear is not None and list(linear.inputs) == ["args[0]", "args[1]", "args[2]"]
    x, weight, bias = (reader.tensor(name) for name in linear.inputs.values())
    assert weight.equal(model.head.weight) and bias.equal(model.head.bias)
    assert reader.tensor(linear.outputs["output"]).equal(F.linear(x, weight, bias))
    block = reader.find(("module", "first", "first", 0, "forward"))
    assert block is not None and list(block.inputs) == ["args[0]", "kwargs['scale']"]
    back = reader.find(("operator", "head", "torch.nn.functional.linear", 0, "backward"))
    assert back is not None
    arrived = reader.tensor(back.inputs["gradient of output"])
    assert reader.tensor(back.outputs["gradient of args[1]"]).allclose(arrived.T @ x)
    gradient = reader.find(("weight gradient", "", "head.weight", 0, "backward"))
    after = reader.find(("weight after", "", "head.weight", 0, "forward"))
    assert gradient is not None and after is not None
    stepped = weight - 0.1 * reader.tensor(gradient.outputs["value"])
    assert reader.tensor(after.outputs["value"]).allclose(stepped)
    steps = reader.find(("weight after", "", "steps", 0, "forward"))
    assert steps is not None and reader.tensor(steps.outputs["value"]).item() == 1


def test_nothing_of_the_program_changes(tmp_path: Path) -> None:
    plain, recorded = make_model(), make_model()
    losses = [step(plain)]
    with OneIter(recorded, tmp_path / "dump"):
        losses.append(step(recorded))
    assert losses[0] == losses[1]
    for x, y in zip(plain.parameters(), recorded.parameters(), strict=True):
        assert x.equal(y)
    for module in recorded.modules():
        assert not module._forward_hooks and not module._forward_pre_hooks
    assert not any(x._post_accumulate_grad_hooks for x in recorded.parameters())


def test_equal_tensors_are_stored_once(dump: Path) -> None:
    index = json.loads((dump / "rank0" / "index.json").read_text())
    uses = sum(len(x["inputs"]) + len(x["outputs"]) for x in index["records"])
    assert len(index["tensors"]) < uses / 2
    assert {x.suffix for x in (dump / "rank0").iterdir()} == {".json", ".safetensors"}


def test_the_same_step_agrees(dump: Path, tmp_path: Path) -> None:
    for forced in (False, True):
        tested = record(
            tmp_path, f"again{forced}", make_model(seed=5), reference=dump, teacher_forcing=forced
        )
        found = only(dump, tested)
        assert found.ok, found.text()
        assert found.forced == forced and len(found.values) > 100
        assert all(value.error == 0 for value in found.values)


@pytest.mark.parametrize("forced", [False, True])
@pytest.mark.parametrize(
    ("overload", "name", "module", "phase"),
    [
        ("aten.gelu.default", "torch.nn.functional.gelu", "first", "forward"),
        (
            "aten.native_layer_norm.default",
            "torch.nn.functional.layer_norm",
            "first.norm",
            "forward",
        ),
        ("aten.gelu_backward.default", "torch.nn.functional.gelu", "shared", "backward"),
        (
            "aten._log_softmax_backward_data.default",
            "torch.nn.functional.cross_entropy",
            "",
            "backward",
        ),
    ],
)
def test_the_first_wrong_operator_is_named(
    dump: Path, tmp_path: Path, overload: str, name: str, module: str, phase: str, forced: bool
) -> None:
    with Faulty(overload):
        tested = record(tmp_path, "tested", make_model(), reference=dump, teacher_forcing=forced)
    first = only(dump, tested).first
    assert first is not None
    assert (first.kind, first.name, first.module, first.phase) == ("operator", name, module, phase)
    assert first.unit == BOUND and first.error > 100
    assert str(first).startswith(name)


def test_forcing_keeps_errors_from_adding_up(dump: Path, tmp_path: Path) -> None:
    def guilty(forced: bool) -> set[str]:
        with Faulty("aten.gelu.default"):
            tested = record(
                tmp_path, f"tested{forced}", make_model(), reference=dump, teacher_forcing=forced
            )
        off = only(dump, tested).divergences
        return {value.name for value in off if value.kind == "operator"}

    # Without forcing, each operator is also judged for its own inputs.
    assert guilty(False) == guilty(True) == {"torch.nn.functional.gelu"}


def test_rounding_is_not_a_divergence(dump: Path, tmp_path: Path) -> None:
    def last_place(x: torch.Tensor) -> torch.Tensor:
        return torch.nextafter(x, torch.full_like(x, 10.0))

    with Faulty("aten.gelu.default", last_place):
        tested = record(tmp_path, "tested", make_model(), reference=dump)
    found = only(dump, tested)
    assert found.ok, found.text()
    units = {value.unit for value in found.values if value.error}
    assert units == {BOUND, RELATIVE}
    assert not only(dump, tested, tolerance=1e-12).ok


def test_nan_is_a_divergence(dump: Path, tmp_path: Path) -> None:
    with Faulty("aten.gelu.default", lambda x: x * float("nan")):
        tested = record(tmp_path, "tested", make_model(), reference=dump)
    found = only(dump, tested)
    assert found.first is not None and found.first.name == "torch.nn.functional.gelu"
    assert "nan" in found.first.detail


def test_modules_alone(tmp_path: Path) -> None:
    dump = record(tmp_path, "trusted", make_model(), operators=False)
    assert {x.kind for x in records(dump)} == {
        "module",
        "weight",
        "weight gradient",
        "weight after",
    }
    with Faulty("aten.native_layer_norm.default"):
        tested = record(
            tmp_path, "tested", make_model(), reference=dump, teacher_forcing=True, operators=False
        )
    off = only(dump, tested).divergences
    assert off[0].name == "first.norm"
    # Linear layers got the recorded inputs.
    assert not any(x.name.endswith("linear") and x.phase == "forward" for x in off)


def test_random_operators_are_not_compared_and_return_the_recording(tmp_path: Path) -> None:
    def run(name: str, seed: int, **options: Any) -> Path:
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Dropout(), torch.nn.Tanh())
        with OneIter(model, tmp_path / name, rank=0, **options):
            torch.manual_seed(seed)
            model(torch.ones(4, 8)).sum().backward()
        return tmp_path / name

    dump = run("trusted", 1)
    forced = only(dump, run("forced", 2, reference=dump, teacher_forcing=True))
    assert forced.random == 2
    assert not [x for x in forced.divergences if x.name == "torch.tanh"]
    free = only(dump, run("free", 2, reference=dump))
    assert free.ok and free.random == 2
    # Consequences of other draws exceed rounding, but no operator is blamed for them.
    assert [x for x in free.values if x.inherited and x.error > x.limit]


def test_in_place_operators_and_views(tmp_path: Path) -> None:
    class Writing(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.arange(4.0))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y = x * self.weight
            y[:, :2].mul_(3)
            return torch.relu_(y.expand(2, 3, 4).clone())

    def run(name: str, **options: Any) -> Path:
        model = Writing()
        with OneIter(model, tmp_path / name, rank=0, **options):
            model(torch.ones(3, 4)).sum().backward()
        assert model.weight.grad is not None
        assert model.weight.grad.tolist() == [0.0, 18.0, 6.0, 6.0]
        return tmp_path / name

    dump = run("trusted")
    mul = next(x for x in records(dump) if x.name == "torch.Tensor.mul_")
    reader = Reader(dump / "rank0")
    assert reader.tensor(mul.inputs["args[0]"])[0].tolist() == [0, 1]
    assert reader.tensor(mul.outputs["argument 0"])[0].tolist() == [0, 3]
    for forced in (False, True):
        found = only(dump, run(f"{forced}", reference=dump, teacher_forcing=forced))
        assert found.ok, found.text()


def test_another_path_through_the_program_is_reported(dump: Path, tmp_path: Path) -> None:
    model = make_model()
    model.head = torch.nn.Sequential(model.head, torch.nn.ReLU())  # type: ignore[assignment]
    with OneIter(model, tmp_path / "tested", rank=0):
        model(torch.ones(4, 6)).sum().backward()
    found = only(dump, tmp_path / "tested")
    assert not found.ok and found.missing and found.additional
    assert "only in the step under test" in found.text()
    with pytest.raises(OneIterError, match=r"the model has head\.0\.weight .*another model"):
        OneIter(model, tmp_path / "more", reference=dump, rank=0).__enter__()


def test_steps_with_different_starts_are_reported_first(tmp_path: Path) -> None:
    def recorded(name: str, seed: int = 0, scale: float = 1.0) -> Path:
        torch.manual_seed(seed)
        model = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.GELU())
        x = torch.linspace(-1, 1, 8).reshape(2, 4) * scale
        with OneIter(model, tmp_path / name, rank=0):
            model(x).square().sum().backward()
        return tmp_path / name

    trusted = recorded("trusted")
    weights = only(trusted, recorded("weights", seed=1))
    assert not weights.ok and str(weights.first).startswith("weight 0.weight: value is off")
    assert [x.kind for x in weights.divergences] == ["weight", "weight"]
    assert "2 of the model's weights, buffers and inputs are off before" in weights.text()
    batch = only(trusted, recorded("batch", scale=1.5))
    assert not batch.ok and str(batch.first).startswith("input of the model: args[0] is off by 0.5")
    assert len(batch.divergences) == 1


def test_an_interrupted_step_is_incomplete(dump: Path, tmp_path: Path) -> None:
    model = make_model()

    def fail() -> None:
        with OneIter(model, tmp_path / "broken", rank=0):
            model(torch.ones(4, 6))
            raise KeyError("lost")

    with pytest.raises(KeyError):
        fail()
    found = only(dump, tmp_path / "broken")
    assert not found.ok and "was interrupted by KeyError: 'lost'" in found.text()
    # The step may be recorded again under that name.
    assert only(dump, record(tmp_path, "broken", make_model())).ok


def test_steps_without_events_are_not_compared(dump: Path) -> None:
    path = dump / "rank0" / "index.json"
    document = json.loads(path.read_text())
    path.write_text(json.dumps({**document, "records": []}))
    with pytest.raises(OneIterError, match="nothing to compare"):
        compare(dump, dump)


def test_ranks_have_folders_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for rank in ("0", "1"):
        monkeypatch.setenv("RANK", rank)
        for name in ("a", "b"):
            model = make_model(seed=int(rank))
            with OneIter(model, tmp_path / name):
                step(model)
    found = compare(tmp_path / "a", tmp_path / "b")
    assert [(x.rank, x.ok) for x in found] == [("rank0", True), ("rank1", True)]
    record(tmp_path, "c", make_model())
    with pytest.raises(OneIterError, match="same number of processes"):
        compare(tmp_path / "a", tmp_path / "c")


def test_folders_that_are_not_steps_are_refused(dump: Path, tmp_path: Path) -> None:
    with pytest.raises(OneIterError, match="no folder rank0"):
        compare(tmp_path / "nowhere", dump)
    with pytest.raises(OneIterError, match="not empty"):
        OneIter(make_model(), dump, rank=0).__enter__()
    with pytest.raises(OneIterError, match="needs reference="):
        OneIter(make_model(), tmp_path / "x", teacher_forcing=True)
    path = dump / "rank0" / "index.json"
    document = json.loads(path.read_text())
    for change in (
        {"format": 2},
        {"records": [{"kind": "module"}]},
        {"tensors": {}},
        {"tensors": {name: {"shard": 0, "dtype": "load"} for name in document["tensors"]}},
        {"tensors": {name: {"shard": 9, "dtype": "float32"} for name in document["tensors"]}},
    ):
        path.write_text(json.dumps({**document, **change}))
        with pytest.raises(OneIterError, match=r"damaged|format|missing"):
            Reader(dump / "rank0")
    path.write_text("no JSON")
    with pytest.raises(OneIterError, match="no whole recorded step"):
        Reader(dump / "rank0")


def test_commands(dump: Path, tmp_path: Path) -> None:
    with Faulty("aten.gelu.default"):
        tested = record(tmp_path, "tested", make_model(), reference=dump, teacher_forcing=True)
    report = tmp_path / "report.json"
    done = dl(tmp_path, "one-iter", "compare", str(dump), str(tested), "--json", str(report))
    assert done.returncode == 1, done.stderr
    assert "first: torch.nn.functional.gelu in first (forward): output is off by" in done.stdout
    found = json.loads(report.read_text())["ranks"][0]
    assert found["rank"] == "rank0" and not found["ok"]
    same = dl(tmp_path, "one-iter", "compare", str(dump), str(dump), "--all")
    assert same.returncode == 0 and "0 of " in same.stdout and "shared.linear" in same.stdout
    shown = dl(tmp_path, "one-iter", "show", str(dump))
    assert "module first.linear (backward)" in shown.stdout
    refused = dl(tmp_path, "one-iter", "compare", str(dump), str(tmp_path))
    assert refused.returncode == 2 and "holds no recorded step" in refused.stderr


def test_across_devices(dump: Path, tmp_path: Path, device: str) -> None:
    if device == "cpu":
        pytest.skip("needs an accelerator")
    model = make_model(device, seed=3)
    with OneIter(model, tmp_path / "tested", reference=dump, teacher_forcing=True, rank=0) as one:
        step(model)
    assert one.comparison.ok, one.comparison.text()


def test_a_tensor_that_was_changed_on_its_way_is_refused(dump: Path, tmp_path: Path) -> None:
    damaged = Path(shutil.copytree(dump, tmp_path / "damaged"))
    shard = damaged / "rank0" / "tensors-00000.safetensors"
    content = bytearray(shard.read_bytes())
    content[-1] ^= 1
    shard.write_bytes(content)
    whole, reader = Reader(dump / "rank0"), Reader(damaged / "rank0")
    names = {name for x in whole.records for name in (*x.inputs.values(), *x.outputs.values())}
    (changed,) = [name for name in names if is_refused(reader, name)]
    with pytest.raises(OneIterError, match=rf"tensors-00000.* is damaged: tensor {changed} has"):
        reader.tensor(changed)
    assert not any(is_refused(whole, name) for name in names)


def is_refused(reader: Reader, name: str) -> bool:
    try:
        reader.tensor(name)
    except OneIterError:
        return True
    return False


def test_one_tensor_may_be_several_arguments(tmp_path: Path) -> None:
    """Query, key and value of self-attention: each gradient is judged separately."""

    def attend(folder: Path, **options: Any) -> OneIter:
        torch.manual_seed(0)
        layer = torch.nn.MultiheadAttention(8, 2, batch_first=True)
        x = torch.randn(2, 3, 8)
        with OneIter(layer, folder, rank=0, **options) as one:
            layer(x, x, x, need_weights=True)[0].square().sum().backward()
        return one

    attend(tmp_path / "trusted")
    # Change one value by one rounding, because equal values would not be compared.
    with Faulty("aten.bmm.default", lambda x: x * (1 + 2**-23)):
        one = attend(tmp_path / "b", reference=tmp_path / "trusted", teacher_forcing=True)
    gradients = [x for x in one.comparison.values if x.place == "gradient of args[5]"]
    assert gradients and one.comparison.ok, one.comparison.text()
    assert any(x.unit == BOUND and x.error > 0 for x in gradients)
    with Faulty("aten.bmm.default", lambda x: x * 1.01):
        one = attend(tmp_path / "c", reference=tmp_path / "trusted", teacher_forcing=True)
    assert not one.comparison.ok


class Small(torch.nn.Module):
    """Random numbers, sums that cancel (a bias before a norm), and a loss in another dtype."""

    def __init__(self) -> None:
        super().__init__()
        self.body = torch.nn.Sequential(
            torch.nn.Linear(8, 16),
            torch.nn.BatchNorm1d(16),
            torch.nn.GELU(),
            torch.nn.Dropout(0.3),
            torch.nn.LayerNorm(16),
            torch.nn.Linear(16, 3),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.body(x)


def small_step(folder: Path, mode: str, foreach: bool, seed: int, **options: Any) -> OneIter:
    torch.manual_seed(0)
    model, x = Small(), torch.randn(6, 8)
    if mode == "bfloat16":
        model, x = model.bfloat16(), x.bfloat16()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1, foreach=foreach)
    torch.manual_seed(seed)
    with OneIter(model, folder, rank=0, **options) as one:
        with torch.autocast("cpu", torch.bfloat16, enabled=mode == "autocast"):
            output = model(x)
        F.cross_entropy(output.float(), torch.arange(6) % 3).backward()
        optimizer.step()
    return one


@pytest.mark.parametrize("forced", [False, True])
def test_dtypes_that_autocast_chooses_otherwise_are_one_finding(
    tmp_path: Path, forced: bool
) -> None:
    small_step(tmp_path / "trusted", "float32", True, 1)
    options = {"reference": tmp_path / "trusted", "teacher_forcing": forced}
    one = small_step(tmp_path / "tested", "autocast", True, 1, **options)
    assert one.comparison.dtypes
    told = [x for x in one.comparison.text().splitlines() if "returned another dtype" in x]
    assert len(told) == 1 and "bfloat16 and not float32" in told[0]
    assert not [x for x in one.comparison.divergences if x.kind == "operator"]


@pytest.mark.parametrize("mode", ["float32", "bfloat16", "autocast"])
@pytest.mark.parametrize("forced", [False, True])
def test_a_correct_device_is_not_accused(tmp_path: Path, mode: str, forced: bool) -> None:
    """A device that rounds and draws differently, and whose optimizer uses foreach operators."""

    def rounded(x: torch.Tensor) -> torch.Tensor:
        return x * (1 + 2**-23)

    small_step(tmp_path / "trusted", mode, False, 1)
    options = {"reference": tmp_path / "trusted", "teacher_forcing": forced}
    with Faulty("aten.addmm.default", rounded):
        one = small_step(tmp_path / "tested", mode, True, 2, **options)
    assert one.comparison.ok, one.comparison.text()
    assert not one.comparison.missing and not one.comparison.additional
    assert len(set(one.comparison.optimizer)) == 2
    # A fault on such a device is still found, and nothing else is blamed.
    guilty = "torch.nn.functional.layer_norm"
    with Faulty("aten.native_layer_norm_backward.default", lambda x: x * 1.1):
        one = small_step(tmp_path / "wrong", mode, True, 2, **options)
    off = {x.name for x in one.comparison.divergences if x.kind == "operator"}
    assert off == {guilty}, one.comparison.text()
