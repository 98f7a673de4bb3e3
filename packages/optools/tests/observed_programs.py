"""Two training programs, and torch's global state after them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any

import torch
from torch import nn
from torch.nn.modules import module as modules
from torch.optim import optimizer as optimizers
from torch.utils import _python_dispatch

F = nn.functional


class Residual(nn.Module):
    """Convolutions around a shortcut, with in-place writes and running statistics."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(2, 6, 3, padding=1, bias=False)
        self.inner = nn.Sequential(
            nn.BatchNorm2d(6), nn.ReLU(inplace=True), nn.Conv2d(6, 6, 3, padding=1, bias=False)
        )
        self.norm = nn.BatchNorm2d(6)
        self.head = nn.Linear(6, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.stem(x)
        x = self.norm(self.inner(x) + x).relu_()
        x = F.dropout(F.max_pool2d(x, 2), 0.2, self.training)
        out: torch.Tensor = self.head(x.mean((2, 3)))
        return out


class Attention(nn.Module):
    """A block with one projection for query, key and value, and dropout in and after attention."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(11, 16)
        self.norms = nn.ModuleList([nn.LayerNorm(16), nn.LayerNorm(16)])
        self.project, self.out = nn.Linear(16, 48), nn.Linear(16, 16)
        self.up, self.down = nn.Linear(16, 32), nn.Linear(32, 16)
        self.head = nn.Linear(16, 11, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.embed(tokens)
        rows, length, width = x.shape
        q, k, v = (
            part.view(rows, length, 2, width // 2).transpose(1, 2)
            for part in self.project(self.norms[0](x)).split(width, -1)
        )
        weights = (q @ k.transpose(-1, -2) / 8**0.5).softmax(-1)
        attended = F.dropout(weights, 0.1, self.training) @ v
        x = x + self.out(attended.transpose(1, 2).reshape(rows, length, width))
        x = x + F.dropout(self.down(F.gelu(self.up(self.norms[1](x)))), 0.1, self.training)
        out: torch.Tensor = self.head(x)
        return out


def train(kind: str, device: str, around_step: Callable[[], Any] | None = None) -> dict[str, Any]:
    """Run three seeded steps; return losses, the tensors of the last one, and generator states."""
    torch.manual_seed(3)
    model = {"residual": Residual, "attention": Attention}[kind]().to(device)
    if kind == "residual":
        x, y = torch.randn(4, 2, 8, 8), torch.arange(4)
        optimizer: torch.optim.Optimizer = torch.optim.SGD(model.parameters(), 0.05, momentum=0.9)
    else:
        x, y = torch.randint(11, (2, 6)), torch.randint(11, (2, 6))
        optimizer = torch.optim.AdamW(model.parameters(), 1e-2)
    x, y = x.to(device), y.to(device)
    found: dict[str, Any] = {}
    for step in range(3):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x).flatten(0, -2), y.flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        found[f"loss {step}"] = loss.detach().cpu()
    for name, tensor in model.state_dict().items():
        found[name] = tensor.cpu()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None
        found[f"gradient of {name}"] = parameter.grad.cpu()
    found["generator of cpu"] = torch.get_rng_state()
    if device != "cpu":
        found[f"generator of {device}"] = torch.get_device_module(device).get_rng_state()
    return found


_PLACES = (
    torch,
    torch.Tensor,
    torch._C._TensorBase,
    torch.nn.functional,
    torch.nn.Module,
    torch.nn.init,
    torch.autograd,
    torch.autograd.graph,
    torch.autograd.Function,
    torch.overrides,
    torch.optim.Optimizer,
    torch.linalg,
    torch.fft,
    torch.special,
    torch.utils.checkpoint,
    torch.library,
    _python_dispatch,
)


def torch_now() -> dict[str, Any]:
    """Return everything that a tool could change in torch: functions, modes, hooks, settings."""
    found: dict[str, Any] = {
        f"{place.__name__}.{name}": value
        for place in _PLACES
        for name, value in vars(place).items()
        # Modules are imported lazily.
        if not isinstance(value, ModuleType) and name != "__warningregistry__"
    }
    found |= {
        name: dict(hooks)
        for home in (modules, optimizers)
        for name, hooks in vars(home).items()
        if name.startswith("_global_") and isinstance(hooks, dict)
    }
    found["modes"] = (
        torch._C._len_torch_function_stack(),
        torch._C._len_torch_dispatch_stack(),
        torch._C._autograd._top_saved_tensors_default_hooks(True),
    )
    found["settings"] = (
        torch.get_default_dtype(),
        torch.is_grad_enabled(),
        torch.is_inference_mode_enabled(),
        torch.are_deterministic_algorithms_enabled(),
        torch.is_anomaly_enabled(),
        torch.get_num_threads(),
    )
    return found


def changed(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """Return the names whose values have changed or are new."""
    return sorted(
        name
        for name in before.keys() | after.keys()
        if name not in before or name not in after or not _same(before[name], after[name])
    )


def _same(a: Any, b: Any) -> bool:
    if a is b:
        return True
    # Caches fill; lists of flags compare by content.
    return type(a) is type(b) and isinstance(a, (tuple, dict, bool, int, str)) and a == b


def hooks_behind(tensor: torch.Tensor) -> int:
    """Return the hooks on the nodes of a tensor's graph."""
    seen: set[Any] = set()
    waiting, count = [tensor.grad_fn], 0
    while waiting:
        node = waiting.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        for register in (node.register_hook, functools.partial(_prehook, node)):
            probe = register(_nothing)
            count += len(probe.hooks_dict_ref()) - 1
            probe.remove()
        waiting.extend(target for target, _ in node.next_functions)
    return count


def _prehook(node: Any, hook: Callable[..., None]) -> Any:
    return node.register_prehook(hook)


def _nothing(*_: object) -> None:
    pass
