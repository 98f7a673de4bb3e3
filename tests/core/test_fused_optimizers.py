"""Fused optimizer steps on dl: the update of torch's CPU kernels, without a fallback."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch

SHAPES = ((33, 7), (64,), (), (3, 2, 3))
STEPS = 4
OPTIMIZERS: dict[str, tuple[type[torch.optim.Optimizer], dict[str, Any]]] = {
    "sgd": (torch.optim.SGD, dict(lr=0.1)),
    "sgd-decay": (torch.optim.SGD, dict(lr=0.1, weight_decay=0.1, maximize=True)),
    "sgd-momentum": (torch.optim.SGD, dict(lr=0.1, momentum=0.9, dampening=0.3)),
    "sgd-nesterov": (
        torch.optim.SGD,
        dict(lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.1, maximize=True),
    ),
    "adam": (torch.optim.Adam, dict(lr=0.01)),
    "adam-all": (
        torch.optim.Adam,
        dict(lr=0.01, weight_decay=0.1, amsgrad=True, maximize=True, betas=(0.8, 0.95)),
    ),
    "adamw": (torch.optim.AdamW, dict(lr=0.01)),
    "adamw-all": (torch.optim.AdamW, dict(lr=0.01, amsgrad=True, maximize=True, eps=1e-3)),
    "adagrad": (torch.optim.Adagrad, dict(lr=0.01)),
    "adagrad-all": (
        torch.optim.Adagrad,
        dict(lr=0.01, lr_decay=0.1, weight_decay=0.1, maximize=True, eps=1e-6),
    ),
}
TENSOR_LR = ("sgd-nesterov", "adam-all", "adamw-all", "adagrad-all")


@pytest.fixture(autouse=True)
def _no_fallback(vendor: str) -> Iterator[None]:
    """Forbid the fallback on the vendor that has these operators; elsewhere the CPU's whole update
    is used."""
    with torch.dl.fallback("error" if vendor == "cpu" else "allow"):
        yield


def weights_on(device: str, dtype: torch.dtype) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    return [
        torch.randn(shape, generator=generator, dtype=torch.float64)
        .to(dtype)
        .to(device)
        .requires_grad_()
        for shape in SHAPES
    ]


def give_gradients(weights: list[torch.Tensor], step: int, scale: float = 1.0) -> None:
    generator = torch.Generator().manual_seed(100 + step)
    for weight in weights:
        gradient = torch.randn(weight.shape, generator=generator, dtype=torch.float64) * scale
        weight.grad = gradient.to(weight.dtype).to(weight.device)


def everything(weights: list[torch.Tensor], optimizer: torch.optim.Optimizer) -> list[torch.Tensor]:
    """Return weights, gradients and state, on the CPU."""
    tensors = [t for weight in weights for t in (weight.detach(), weight.grad)]
    for weight in weights:
        state = optimizer.state[weight]
        tensors += [state[key] for key in sorted(state) if isinstance(state[key], torch.Tensor)]
    return [tensor.cpu() for tensor in tensors if tensor is not None]


def run(
    name: str, device: str, dtype: torch.dtype, *, scaled: bool = False, **options: Any
) -> list[torch.Tensor]:
    kind, given = OPTIMIZERS[name]
    weights = weights_on(device, dtype)
    optimizer: Any = kind(weights, **{**given, **options})  # type: ignore[arg-type]
    for step in range(STEPS):
        give_gradients(weights, step, 8.0 if scaled else 1.0)
        if scaled:
            optimizer.grad_scale = torch.full((), 8.0, device=device)
            optimizer.found_inf = torch.full((), float(step == 1), device=device)
        optimizer.step()
    return everything(weights, optimizer)


@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize("scaled", [False, True], ids=("plain", "scaled"))
def test_updates_are_those_of_the_cpu(name: str, scaled: bool) -> None:
    got = run(name, "dl", torch.float64, fused=True, scaled=scaled)
    want = run(name, "cpu", torch.float64, fused=True, scaled=scaled)
    torch.testing.assert_close(got, want, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("name", TENSOR_LR)
@pytest.mark.parametrize("where", ["cpu", "dl"])
def test_the_rate_may_be_a_tensor(name: str, where: str) -> None:
    rate = OPTIMIZERS[name][1]["lr"]
    lr = torch.tensor(rate, dtype=torch.float64)
    got = run(name, "dl", torch.float64, fused=True, lr=lr.to(where))
    torch.testing.assert_close(
        got, run(name, "cpu", torch.float64, fused=True, lr=lr), rtol=1e-13, atol=1e-13
    )


@pytest.mark.vendor("cpu")
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_other_precisions(name: str, dtype: torch.dtype) -> None:
    got = run(name, "dl", dtype, fused=True)
    # torch's own fused SGD (2.13) diverges on the CPU in half precision.
    want = run(name, "cpu", dtype, fused=not name.startswith("sgd"))
    # Each step rounds what it stores.
    eps = STEPS * torch.finfo(dtype).eps
    torch.testing.assert_close(got, want, rtol=4 * eps, atol=4 * eps)


@pytest.mark.parametrize("loop", [dict(foreach=True), dict(foreach=False)], ids=str)
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_other_loops_need_no_fallback(name: str, loop: dict[str, bool]) -> None:
    # amsgrad needs the in-place maximum of two tensors, which vendors may lack.
    plain = dict(amsgrad=False) if "amsgrad" in OPTIMIZERS[name][1] else {}
    got = run(name, "dl", torch.float64, **loop, **plain)
    want = run(name, "cpu", torch.float64, **loop, **plain)
    torch.testing.assert_close(got, want, rtol=1e-12, atol=1e-12)


def test_gradients_stay_as_they_are() -> None:
    for name in ("sgd-nesterov", "adam-all", "adamw-all", "adagrad-all"):
        kind, options = OPTIMIZERS[name]
        weights = weights_on("dl", torch.float32)
        optimizer = kind(weights, **options, fused=True)  # type: ignore[arg-type]
        give_gradients(weights, 0)
        before = [weight.grad.cpu() for weight in weights if weight.grad is not None]
        optimizer.step()
        for weight, gradient in zip(weights, before, strict=True):
            assert weight.grad is not None
            assert torch.equal(weight.grad.cpu(), gradient), name


@pytest.mark.vendor("cpu")
def test_strided_parameters() -> None:
    paths = []
    for device in ("cpu", "dl"):
        weight = torch.linspace(-1, 1, 24, dtype=torch.float64).reshape(4, 6).to(device).t()
        weight.requires_grad_()
        # torch's fused kernels on the CPU assume equal layouts of weight and gradient.
        optimizer = torch.optim.AdamW([weight], lr=0.1, fused=device == "dl")
        for step in range(3):
            weight.grad = (weight.detach() * (step + 1)).contiguous()
            optimizer.step()
        assert weight.stride() == (1, 6)
        paths.append(weight.detach().cpu())
    torch.testing.assert_close(*paths, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("norm_type", [2.0, 1.0, float("inf")])
def test_gradients_are_clipped(norm_type: float) -> None:
    results = []
    for device in ("cpu", "dl"):
        weights = weights_on(device, torch.float64)
        give_gradients(weights, 3)
        with torch.dl.fallback("allow"):
            norm = torch.nn.utils.clip_grad_norm_(weights, 0.5, norm_type)
        results.append([norm.cpu(), *(w.grad.cpu() for w in weights if w.grad is not None)])
    torch.testing.assert_close(*results, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("fused", [True, False])
def test_gradient_scaler_skips_steps_that_overflow(fused: bool) -> None:
    """The scale backs off at the overflow and grows after two good steps; weights as on the CPU."""
    paths = []
    for device in ("cpu", "dl"):
        weights = weights_on(device, torch.float32)
        optimizer = torch.optim.AdamW(weights, lr=0.01, fused=fused)
        scaler = torch.amp.GradScaler(device, init_scale=64.0, growth_interval=2)
        scales = []
        for step in range(6):
            optimizer.zero_grad()
            loss = sum((weight * (step + 1)).square().sum() for weight in weights)
            scaler.scale(loss).backward()  # type: ignore[no-untyped-call]
            if step == 2:
                assert weights[0].grad is not None
                weights[0].grad[0, 0] = float("inf")
            scaler.step(optimizer)
            scaler.update()
            scales.append(scaler.get_scale())
        assert scales == [64.0, 128.0, 64.0, 64.0, 128.0, 128.0]
        paths.append([weight.detach().cpu() for weight in weights])
    torch.testing.assert_close(*paths, rtol=1e-5, atol=1e-6)
