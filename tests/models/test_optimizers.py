"""Optimizers on dl update weights as the float64 optimizer does with the same gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from diopi_proto.tolerance import OpClass, compare
from dl_torch_tests.models.rule import STEP_OPERATIONS

STEPS = 4
SHAPES = [(33, 7), (64,), (3, 2, 3, 3), ()]

OPTIMIZERS: dict[str, tuple[type[torch.optim.Optimizer], dict[str, Any]]] = {
    "sgd": (torch.optim.SGD, dict(lr=0.1)),
    "sgd-nesterov": (
        torch.optim.SGD,
        dict(lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.01),
    ),
    "adam": (torch.optim.Adam, dict(lr=1e-2, weight_decay=0.01)),
    "adam-amsgrad": (torch.optim.Adam, dict(lr=1e-2, amsgrad=True)),
    "adamw": (torch.optim.AdamW, dict(lr=1e-2, betas=(0.8, 0.95), maximize=True)),
    "rmsprop": (torch.optim.RMSprop, dict(lr=1e-2)),
    "rmsprop-momentum": (torch.optim.RMSprop, dict(lr=1e-2, momentum=0.9, weight_decay=0.01)),
}
LOOPS = {"loop": dict(foreach=False), "foreach": dict(foreach=True), "fused": dict(fused=True)}
CASES = [
    (name, loop)
    for name in OPTIMIZERS
    for loop in LOOPS
    if not (loop == "fused" and name.startswith("rmsprop"))  # torch has none
]


def numbers(dtype: torch.dtype) -> tuple[list[torch.Tensor], list[list[torch.Tensor]]]:
    """Return weights, and the gradients of each step: float32 values, some of which are 0."""
    generator = torch.Generator().manual_seed(0)
    weights = [torch.randn(shape, generator=generator).to(dtype) for shape in SHAPES]
    gradients = [
        [torch.randn(shape, generator=generator).relu().to(dtype) for shape in SHAPES]
        for _ in range(STEPS)
    ]
    return weights, gradients


def path(name: str, device: torch.device, dtype: torch.dtype, **loop: bool) -> list[np.ndarray]:
    """Return all weights as one vector on the CPU, before the first step and after each step."""
    kind, options = OPTIMIZERS[name]
    start, gradients = numbers(dtype)
    weights = [weight.to(device).requires_grad_() for weight in start]
    optimizer = kind(weights, **options, **loop)

    def vector() -> np.ndarray:
        return torch.cat([weight.detach().cpu().flatten() for weight in weights]).numpy()

    places = [vector()]
    for given in gradients:
        for weight, gradient in zip(weights, given, strict=True):
            weight.grad = gradient.to(device)
        optimizer.step()
        places.append(vector())
    return places


@pytest.mark.parametrize(("name", "loop"), CASES)
@pytest.mark.parametrize("where", ["dl", "cpu"])
def test_optimizer_steps_are_within_rounding(name: str, loop: str, where: str) -> None:
    """The test also runs on the CPU, where torch itself has to be within the bound."""
    cpu = torch.device("cpu")
    reference = path(name, cpu, torch.float64, foreach=False)
    found = path(name, torch.device(where), torch.float32, **LOOPS[loop])
    magnitude = np.abs(reference[0])
    for step in range(1, STEPS + 1):
        magnitude = magnitude + np.abs(reference[step] - reference[step - 1])
        outcome = compare(
            found[step],
            reference[step],
            dtype="float32",
            op_class=OpClass.ROUNDING,
            magnitude=magnitude,
            roundings=step * STEP_OPERATIONS,
        )
        assert outcome.ok, outcome.report(f"step {step} of {name}, {loop} on {where}")


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("sgd-nesterov", dict(momentum=0.9001)),
        ("adam", dict(betas=(0.9, 0.9991))),
        ("adam", dict(eps=1e-6)),
        ("rmsprop", dict(alpha=0.9901)),
    ],
)
def test_wrong_optimizer_is_found(
    name: str, wrong: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some faults only have an effect in later steps."""
    kind, options = OPTIMIZERS[name]
    cpu = torch.device("cpu")
    reference = path(name, cpu, torch.float64)
    monkeypatch.setitem(OPTIMIZERS, name, (kind, options | wrong))
    found = path(name, cpu, torch.float32)
    outcome = compare(
        found[STEPS],
        reference[STEPS],
        dtype="float32",
        op_class=OpClass.ROUNDING,
        magnitude=np.abs(reference[0]) + sum(map(np.abs, np.diff(reference, axis=0))),
        roundings=STEPS * STEP_OPERATIONS,
    )
    assert not outcome.ok
