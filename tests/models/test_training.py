"""Features of training scripts: compilation, checkpoints, loaders, saving, loss scaling."""

from __future__ import annotations

import copy
import io
from collections.abc import Callable, Iterator

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, TensorDataset

from diopi_proto.tolerance import OpClass, compare
from dl_torch_tests.models.one_step import Batch
from dl_torch_tests.models.rule import check
from dl_torch_tests.models.small_steps import CLASSES, FEATURES, multilayer_perceptron

from .cases import rule_of, step_of


def data(rows: int = 32) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    inputs = torch.randn(rows, FEATURES, generator=generator)
    return inputs, torch.randint(CLASSES, (rows,), generator=generator)


def model_and_optimizer(device: torch.device) -> tuple[nn.Module, torch.optim.Optimizer]:
    torch.manual_seed(0)
    model = multilayer_perceptron().to(device)
    return model, torch.optim.AdamW(model.parameters(), lr=1e-2)


def train(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    batches: Iterator[tuple[torch.Tensor, torch.Tensor]],
) -> None:
    for inputs, labels in batches:
        optimizer.zero_grad()
        functional.cross_entropy(model(inputs), labels).backward()
        optimizer.step()


def host_state(model: nn.Module) -> dict[str, torch.Tensor]:
    return {name: value.cpu().clone() for name, value in model.state_dict().items()}


def assert_same(left: dict[str, torch.Tensor], right: dict[str, torch.Tensor]) -> None:
    assert left.keys() == right.keys()
    for name, value in left.items():
        assert torch.equal(value, right[name]), name


def test_channels_last_step(device: torch.device) -> None:
    step = step_of("autoencoder")

    def forward(model: nn.Module, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
        images = batch["inputs"].contiguous(memory_format=torch.channels_last)
        return step.forward(model, {"inputs": images})

    check(rule_of("autoencoder"), step.changed(forward=forward).run(device))


@pytest.fixture
def fresh_compiler() -> Iterator[None]:
    torch.compiler.reset()
    torch._dynamo.utils.counters.clear()
    yield
    torch.compiler.reset()


@pytest.mark.usefixtures("fresh_compiler")
@pytest.mark.parametrize("name", ["mlp", "autoencoder", "bags", "tagger"])
def test_compiled_step(name: str, device: torch.device) -> None:
    """AOTAutograd's forward and backward graphs run operator by operator."""
    step = step_of(name)
    graphs = 0

    def forward(model: nn.Module, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
        nonlocal graphs
        compiled = torch.compile(step.forward, backend="aot_eager", fullgraph=True)
        results = compiled(model, batch)
        graphs = torch._dynamo.utils.counters["stats"]["unique_graphs"]
        return results

    check(rule_of(name), step.changed(forward=forward).run(device))
    assert graphs == 1


@pytest.mark.parametrize("reentrant", [False, True])
def test_checkpoint_repeats_dropout(reentrant: bool, device: torch.device) -> None:
    torch.manual_seed(0)
    layers = nn.Sequential(nn.Linear(FEATURES, 64), nn.GELU(), nn.Dropout(0.5), nn.Linear(64, 8))
    layers.to(device)
    inputs = data()[0].to(device).requires_grad_()
    tensors = [inputs, *layers.parameters()]

    def gradients(run: Callable[[torch.Tensor], torch.Tensor]) -> list[torch.Tensor]:
        for tensor in tensors:
            tensor.grad = None
        torch.manual_seed(1)
        loss = run(inputs).square().sum()
        torch.rand(5, device=device)  # between forward and backward; must not count
        loss.backward()
        return [tensor.grad.cpu() for tensor in tensors]

    plain = gradients(layers)
    again = gradients(lambda x: checkpoint(layers, x, use_reentrant=reentrant))
    for left, right in zip(plain, again, strict=True):
        assert torch.equal(left, right)


def test_pinned_batches_train_alike(device: torch.device) -> None:
    dataset = TensorDataset(*data())

    def batches(pin: bool) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        for inputs, labels in DataLoader(dataset, batch_size=8, pin_memory=pin):
            assert inputs.is_pinned() == labels.is_pinned() == pin
            yield inputs.to(device, non_blocking=pin), labels.to(device, non_blocking=pin)

    states = []
    for pin in (False, True):
        model, optimizer = model_and_optimizer(device)
        before = host_state(model)
        train(model, optimizer, batches(pin))
        states.append(host_state(model))
        assert not torch.equal(before["0.weight"], states[-1]["0.weight"])
    assert_same(*states)


def test_training_goes_on_from_a_saved_state(device: torch.device) -> None:
    inputs, labels = data()
    batches = [(inputs.to(device), labels.to(device))]
    model, optimizer = model_and_optimizer(device)
    train(model, optimizer, iter(batches * 2))
    file = io.BytesIO()
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, file)

    for map_location in (None, "cpu", device):
        file.seek(0)
        saved = torch.load(file, map_location=map_location, weights_only=True)
        wanted = "cpu" if map_location == "cpu" else device.type
        assert {value.device.type for value in saved["model"].values()} == {wanted}
        resumed, resumed_optimizer = model_and_optimizer(device)
        resumed.load_state_dict(saved["model"])
        resumed_optimizer.load_state_dict(saved["optimizer"])
        assert_same(host_state(resumed), host_state(model))
        continued = copy.deepcopy(model)
        continued_optimizer = torch.optim.AdamW(continued.parameters(), lr=1e-2)
        # A loaded state is not copied: each step would move the original's moments.
        continued_optimizer.load_state_dict(copy.deepcopy(optimizer.state_dict()))
        train(resumed, resumed_optimizer, iter(batches))
        train(continued, continued_optimizer, iter(batches))
        assert_same(host_state(resumed), host_state(continued))
        assert not torch.equal(resumed[0].weight, model[0].weight)


def test_saved_on_the_device_loads_on_the_cpu(device: torch.device) -> None:
    model, _ = model_and_optimizer(device)
    other = multilayer_perceptron()
    other.load_state_dict(model.state_dict())
    assert next(other.parameters()).device.type == "cpu"
    assert_same(host_state(other), host_state(model))


@pytest.mark.parametrize("foreach", [False, True])
@pytest.mark.parametrize("order", [2.0, float("inf")])
def test_clipping_measures_the_norm(order: float, foreach: bool, device: torch.device) -> None:
    generator = torch.Generator().manual_seed(0)
    gradients = [torch.randn(shape, generator=generator) for shape in ((40, 30), (7,), ())]
    weights = [nn.Parameter(torch.zeros_like(gradient, device=device)) for gradient in gradients]
    for weight, gradient in zip(weights, gradients, strict=True):
        weight.grad = gradient.to(device)
    norm = nn.utils.clip_grad_norm_(weights, 1.0, norm_type=order, foreach=foreach)

    flat = torch.cat([gradient.flatten() for gradient in gradients]).double()
    wanted = torch.linalg.vector_norm(flat, order)
    terms = len(flat)
    outcome = compare(
        norm.cpu().numpy(),
        wanted.numpy(),
        dtype="float32",
        op_class=OpClass.REDUCTION,
        reduction_length=terms,
    )
    assert outcome.ok, outcome.report("norm")
    clipped = torch.cat([weight.grad.cpu().flatten() for weight in weights])
    # torch adds 1e-6 to the norm; then come a division and a product.
    outcome = compare(
        clipped.numpy(),
        (flat / (wanted + 1e-6)).numpy(),
        dtype="float32",
        op_class=OpClass.REDUCTION,
        reduction_length=terms,
    )
    assert outcome.ok, outcome.report("clipped")


def test_clipping_bounds_values(device: torch.device) -> None:
    weight = nn.Parameter(torch.zeros(3, device=device))
    weight.grad = torch.tensor([-2.0, 0.25, 3.0], device=device)
    nn.utils.clip_grad_value_([weight], 0.5)
    np.testing.assert_array_equal(weight.grad.cpu(), [-0.5, 0.25, 0.5])


def test_scaler_leaves_out_a_step_that_overflows(device: torch.device) -> None:
    model, optimizer = model_and_optimizer(device)
    before = host_state(model)
    inputs, labels = (tensor.to(device) for tensor in data())
    scaler = torch.amp.GradScaler(device.type, init_scale=1e38)
    scales = []
    for _ in range(2):
        optimizer.zero_grad()
        with torch.autocast(device.type, dtype=torch.float16):
            loss = functional.cross_entropy(model(inputs), labels)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update(1024.0 if not scales else None)
        scales.append(scaler.get_scale())
        weight = model[0].weight.detach().cpu()
        moved = not torch.equal(weight, before["0.weight"])
        assert moved == (len(scales) == 2)
    assert scales == [1024.0, 1024.0]
