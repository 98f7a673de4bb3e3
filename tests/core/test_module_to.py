"""Modules that move to dl and back keep their identity."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn


class Tied(nn.Module):
    """An embedding that shares its weight with the output layer."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(7, 4)
        self.output = nn.Linear(4, 7, bias=False)
        self.output.weight = self.embedding.weight
        self.register_buffer("scale", torch.tensor(2.0))

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.output(self.embedding(tokens)) * self.scale


def loss_of(model: nn.Module, device: str) -> torch.Tensor:
    tokens = torch.arange(7, device=device)
    return nn.functional.cross_entropy(model(tokens), tokens.flip(0))


def train(model: nn.Module, optimizer: torch.optim.Optimizer, device: str) -> list[float]:
    losses = []
    for _ in range(5):
        optimizer.zero_grad()
        loss = loss_of(model, device)
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    return losses


def test_tied_weights_stay_tied_and_train_as_on_the_cpu() -> None:
    torch.manual_seed(0)
    model = Tied()
    twin = copy.deepcopy(model)
    moved = model.to("dl")
    assert moved is model
    assert model.output.weight is model.embedding.weight
    assert model.scale.device.type == "dl"
    there = train(model, torch.optim.SGD(model.parameters(), 0.5), "dl")
    here = train(twin, torch.optim.SGD(twin.parameters(), 0.5), "cpu")
    torch.testing.assert_close(torch.tensor(there), torch.tensor(here))
    torch.testing.assert_close(model.output.weight.cpu(), twin.output.weight)


@pytest.mark.parametrize("kind", [torch.optim.SGD, torch.optim.AdamW])
def test_an_optimizer_made_before_the_move_trains_what_moved(kind: type) -> None:
    torch.manual_seed(0)
    model = Tied()
    optimizer = kind(model.parameters(), lr=0.1)
    model.to("dl")
    losses = train(model, optimizer, "dl")
    assert losses[-1] < losses[0]


def test_an_optimizer_with_state_can_be_loaded_after_the_move() -> None:
    torch.manual_seed(0)
    model = Tied()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
    train(model, optimizer, "cpu")
    state = copy.deepcopy(optimizer.state_dict())
    model.to("dl")
    fresh = torch.optim.AdamW(model.parameters(), lr=0.1)
    fresh.load_state_dict(state)
    moments = fresh.state[model.output.weight]
    assert moments["exp_avg"].device.type == "dl"
    losses = train(model, fresh, "dl")
    assert losses[-1] < losses[0]


def test_a_move_there_and_back_changes_no_bit() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.LSTM(4, 5), nn.Linear(5, 2))
    before = copy.deepcopy(model.state_dict())
    model.to("dl").to("cpu")
    after = model.state_dict()
    assert before.keys() == after.keys()
    assert all(torch.equal(before[key], after[key]) for key in before)


def test_gradients_and_frozen_parameters_move_along() -> None:
    model = nn.Linear(2, 2)
    model.bias.requires_grad_(False)
    model(torch.ones(1, 2)).sum().backward()
    model.to("dl")
    assert model.weight.grad is not None and model.weight.grad.device.type == "dl"
    assert model.weight.is_leaf and model.weight.requires_grad
    assert not model.bias.requires_grad


def test_dtype_and_memory_format_change_in_the_same_move() -> None:
    model = nn.Conv2d(3, 4, 3).to("dl", torch.bfloat16, memory_format=torch.channels_last)
    assert model.weight.dtype == torch.bfloat16
    assert model.weight.is_contiguous(memory_format=torch.channels_last)


def test_a_hook_on_a_parameter_survives_the_move() -> None:
    model = nn.Linear(2, 2)
    seen = []
    model.weight.register_hook(lambda gradient: seen.append(gradient.device.type))
    model.to("dl")
    model(torch.ones(1, 2, device="dl")).sum().backward()
    assert seen == ["dl"]


def test_hooks_that_moved_along_can_be_removed() -> None:
    model = nn.Linear(2, 2)
    seen: list[str] = []
    handles = [
        model.weight.register_hook(lambda gradient: seen.append("hook")),
        model.weight.register_post_accumulate_grad_hook(lambda parameter: seen.append("post")),
    ]
    model.to("dl")
    model(torch.ones(1, 2, device="dl")).sum().backward()
    assert sorted(seen) == ["hook", "post"]
    for handle in handles:
        handle.remove()
    model(torch.ones(1, 2, device="dl")).sum().backward()
    assert len(seen) == 2


def test_a_deep_copy_shares_nothing() -> None:
    model = Tied().to("dl")
    twin = copy.deepcopy(model)
    assert twin.output.weight is twin.embedding.weight
    with torch.no_grad():
        twin.output.weight.zero_()
    assert bool((model.output.weight != 0).any())


@pytest.mark.devices(2)
def test_a_model_on_two_devices_trains() -> None:
    torch.manual_seed(0)
    first, second = nn.Linear(4, 8).to("dl:0"), nn.Linear(8, 1).to("dl:1")
    here = nn.Sequential(copy.deepcopy(first), copy.deepcopy(second)).to("cpu")
    x = torch.randn(16, 4)
    second(first(x.to("dl:0")).relu().to("dl:1")).sum().backward()
    here[1](here[0](x).relu()).sum().backward()
    torch.testing.assert_close(first.weight.grad.cpu(), here[0].weight.grad)
    torch.testing.assert_close(second.weight.grad.cpu(), here[1].weight.grad)
