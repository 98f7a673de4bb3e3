"""A small model, a few training steps, and the allowed distance from float64.

Each weight has the bound of ``tests/models/rule.py``: four times the spread of correct float32 runs
on the CPU (one with the whole batch, and one that averages the gradients of its two parts, as two
ranks do), plus the rounding of the last sum relative to the tensor's norm.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from diopi_proto.tolerance import OpClass, Order, allowed_error

WIDTH, HIDDEN, ROWS, STEPS, RATE = 16, 32, 8, 3, 0.05
SPREAD_MULTIPLE = 4.0

Weights = dict[str, np.ndarray]


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.up = nn.Linear(WIDTH, HIDDEN)
        self.down = nn.Linear(HIDDEN, WIDTH)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        added: torch.Tensor = self.down(torch.tanh(self.up(self.norm(x))))
        return x + added


def model(blocks: int = 2, dtype: torch.dtype = torch.float32) -> nn.Sequential:
    """Return the model, with the same weights in every process."""
    torch.manual_seed(0)
    return nn.Sequential(*(Block() for _ in range(blocks))).to(dtype)


def batch(dtype: torch.dtype = torch.float32) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    both = torch.randn(2, ROWS, WIDTH, generator=generator)
    return both[0].to(dtype), both[1].to(dtype)


def loss_of(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    return (output - target).square().mean()


def optimizer_of(trained: nn.Module) -> torch.optim.Optimizer:
    # No foreach: torch cannot group plain tensors with sharded ones.
    return torch.optim.SGD(trained.parameters(), RATE, momentum=0.9, foreach=False)


def train(trained: nn.Module, data: torch.Tensor, target: torch.Tensor, steps: int = STEPS) -> None:
    optimizer = optimizer_of(trained)
    for _ in range(steps):
        optimizer.zero_grad()
        loss_of(trained(data), target).backward()
        optimizer.step()


def weights_of(trained: nn.Module) -> Weights:
    """Return the weights on the CPU; sharded parameters are gathered."""
    found = {}
    for name, value in trained.state_dict().items():
        whole = value.full_tensor() if hasattr(value, "full_tensor") else value
        found[name.removeprefix("module.")] = whole.detach().cpu().numpy().copy()
    return found


def single_run(dtype: torch.dtype, split_batch: bool = False, rounded: bool = False) -> Weights:
    """Run the same training in one process on the CPU.

    :param split_batch: process each part of the batch separately, as two ranks do.
    :param rounded: run forward and backward in bfloat16 (mixed precision).
    """
    trained = model(dtype=dtype)
    parts = list(zip(*(each.chunk(2 if split_batch else 1) for each in batch(dtype)), strict=True))
    optimizer = optimizer_of(trained)
    for _ in range(STEPS):
        optimizer.zero_grad()
        for data, target in parts:
            if rounded:
                narrow = {name: p.bfloat16() for name, p in trained.named_parameters()}
                output = torch.func.functional_call(trained, narrow, data.bfloat16())
            else:
                output = trained(data)
            (loss_of(output, target) / len(parts)).backward()
        optimizer.step()
    return weights_of(trained)


def _norm(values: np.ndarray) -> float:
    return float(np.abs(values).max())


def check(weights: Weights, rounded: bool = False) -> None:
    """Compare the weights after training with the weights of a float64 run.

    :param rounded: the ranks compute, or send gradients, in bfloat16.
    :raises AssertionError: a tensor is missing or exceeds its bound.
    """
    wanted, start = single_run(torch.float64), weights_of(model())
    variants = [single_run(torch.float32, split_batch, rounded) for split_batch in (False, True)]
    assert weights.keys() == wanted.keys()
    for name, reference in wanted.items():
        spread = max(_norm(variant[name] - reference) for variant in variants)
        moved = _norm(reference - start[name])
        bound = allowed_error(
            np.asarray(moved if rounded else _norm(reference)),
            "bfloat16" if rounded else "float32",
            OpClass.MATMUL,
            HIDDEN * ROWS,
            order=Order.PAIRWISE,
        )
        allowed = SPREAD_MULTIPLE * spread + float(bound)
        error = _norm(weights[name] - reference)
        assert error <= allowed, f"{name}: off by {error:.2e}, allowed {allowed:.2e}"
        # Unchanged weights must not pass.
        assert allowed < moved, f"{name}: moved by {moved:.2e}, allowed {allowed:.2e}"
