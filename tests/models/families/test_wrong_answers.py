"""Families that are wrong on dl fail with the wrong result; families that test nothing fail."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from dl_torch_tests.models.families.family import Family
from dl_torch_tests.models.families.measure import measure
from dl_torch_tests.models.families.table import FAMILIES
from dl_torch_tests.models.one_step import Batch

pytestmark = pytest.mark.filterwarnings("ignore")  # see test_families.py

Losses = tuple[torch.Tensor, torch.Tensor]


class Spoiled(TorchDispatchMode):
    """Vendor with one operator whose first result is too large by a ten-thousandth."""

    def __init__(self, operator: Any) -> None:
        super().__init__()
        self.operator, self.calls = operator, 0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        if func is self.operator:
            made = [leaf for leaf in tree_leaves(result) if isinstance(leaf, torch.Tensor)]
            if made[0].device.type == "dl":
                self.calls += 1
                made[0].mul_(1.0001)
        return result


@pytest.mark.parametrize(
    ("name", "operator", "part"),
    [
        ("Multilayer perceptron", torch.ops.aten.addmm.default, "outputs"),
        ("Multilayer perceptron", torch.ops.aten.mm.default, "gradients"),
        ("Multilayer perceptron", torch.ops.aten.native_layer_norm.default, "outputs"),
        ("Multilayer perceptron", torch.ops.aten.gelu_backward.default, "gradients"),
        ("U-Net diffusion", torch.ops.aten.convolution_backward.default, "gradients"),
        ("Llama", torch.ops.aten.silu.default, "outputs"),
        ("Graph convolution", torch.ops.aten.scatter_add.default, "outputs"),
    ],
)
def test_spoiled_operator_is_found(
    name: str, operator: Any, part: str, device: torch.device
) -> None:
    with Spoiled(operator) as spoiled:
        found = measure(FAMILIES[name], device)
    assert spoiled.calls
    assert getattr(found, part) > 1
    assert found.problem is not None


def on_dl(change: Callable[[nn.Module], Any]) -> Callable[[Family], Family]:
    """Return the family with a model that is changed before each forward pass on dl."""

    def changed(family: Family) -> Family:
        def forward(model: nn.Module, batch: Batch) -> Losses:
            if next(model.parameters()).device.type == "dl":
                change(model)
            return family.forward(model, batch)

        return replace(family, forward=forward)

    return changed


def test_perturbed_gradient_is_found(device: torch.device) -> None:
    """One element of a weight's gradient is off by a thousandth of its largest element."""

    def perturb(gradient: torch.Tensor) -> torch.Tensor:
        gradient = gradient.clone()
        gradient.view(-1)[3] += 1e-3 * gradient.abs().max()
        return gradient

    change = on_dl(lambda model: model[3].weight.register_hook(perturb))
    found = measure(change(FAMILIES["Multilayer perceptron"]), device)
    assert found.outputs <= 1
    assert found.gradients > 1
    assert "gradient of 3.weight" in str(found.problem)


def test_weight_that_stays_behind_is_found(device: torch.device) -> None:
    """The optimizer is not given the gradient of one weight."""
    change = on_dl(lambda model: model[3].bias.register_hook(torch.zeros_like))
    found = measure(change(FAMILIES["Multilayer perceptron"]), device)
    assert found.weights > 1
    assert "updated 3.bias" in str(found.problem) or "gradient of 3.bias" in str(found.problem)


def test_losses_that_do_not_fall_are_found(device: torch.device) -> None:
    found = measure(replace(FAMILIES["Multilayer perceptron"], rate=1e-9), device)
    assert max(found.outputs, found.gradients, found.weights) <= 1
    assert "the losses do not fall" in str(found.problem)


def test_nan_is_found(device: torch.device) -> None:
    """The fault is in the tenth step only."""
    steps = 0

    def forward(model: nn.Module, batch: Batch) -> Losses:
        nonlocal steps
        loss, output = FAMILIES["Multilayer perceptron"].forward(model, batch)
        steps += loss.device.type == "dl"
        return (loss * torch.nan if steps > 10 else loss), output

    found = measure(replace(FAMILIES["Multilayer perceptron"], forward=forward), device)
    assert "the losses do not fall" in str(found.problem)


def test_family_that_leaves_dl_is_refused(device: torch.device) -> None:
    """The numbers would be right, because the CPU computes them."""
    home = torch.device("cpu")

    def forward(model: nn.Module, batch: Batch) -> Losses:
        inputs = {name: value.to(home) for name, value in batch.items()}
        return FAMILIES["Multilayer perceptron"].forward(model.to(home), inputs)

    with pytest.raises(ValueError, match="the loss is on cpu, not on dl"):
        measure(replace(FAMILIES["Multilayer perceptron"], forward=forward), device)


def test_family_left_to_chance_is_refused(device: torch.device) -> None:
    """Repeated references differ, so that any result would be within the bounds."""

    def forward(model: nn.Module, batch: Batch) -> Losses:
        hidden = {"inputs": nn.functional.dropout(batch["inputs"]), "labels": batch["labels"]}
        return FAMILIES["Multilayer perceptron"].forward(model, hidden)

    found = measure(replace(FAMILIES["Multilayer perceptron"], forward=forward), device)
    assert "the CPU's own errors would allow" in str(found.problem)
