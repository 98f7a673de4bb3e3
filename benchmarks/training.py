"""Training steps on a GPU: a GPT-2 of 124 million parameters, also with so few tokens that the host
is the bottleneck, and a ResNet-50; in float32 and with autocast to bfloat16.

`--alone cuda` times CUDA of another torch installation on the same GPU; `--peer` compares with its
JSON.

    DL_VENDORS=NAME python benchmarks/training.py [--json FILE] [--steps N] [--peer FILE]
    other-python benchmarks/training.py --alone cuda --json FILE
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn import functional

VOCABULARY, WIDTH, HEADS, LAYERS, LONGEST = 50304, 768, 12, 12, 1024
WARM_UP = 4
"""Number of warmup steps."""


class Block(nn.Module):
    """Pre-norm block of a decoder: attention and two linear layers."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        parts = self.qkv(self.first(x)).unflatten(2, (3, HEADS, WIDTH // HEADS))
        q, k, v = parts.permute(2, 0, 3, 1, 4)
        seen = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(seen.transpose(1, 2).flatten(2))
        return x + self.down(functional.gelu(self.up(self.second(x))))


class Decoder(nn.Module):
    """A decoder of GPT-2's size; embedding and head share a weight."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens, self.places = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(LONGEST, WIDTH)
        self.blocks = nn.Sequential(*(Block() for _ in range(LAYERS)))
        self.norm = nn.LayerNorm(WIDTH)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        places = self.places(torch.arange(tokens.shape[1], device=tokens.device))
        x = self.norm(self.blocks(self.tokens(tokens) + places))
        return functional.linear(x, self.tokens.weight)


class Bottleneck(nn.Module):
    def __init__(self, inputs: int, width: int, stride: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            *(nn.Conv2d(inputs, width, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU()),
            *(nn.Conv2d(width, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU()),
            *(nn.Conv2d(width, 4 * width, 1, bias=False), nn.BatchNorm2d(4 * width)),
        )
        self.past: nn.Module = nn.Identity()
        if stride != 1 or inputs != 4 * width:
            shortcut = nn.Conv2d(inputs, 4 * width, 1, stride, bias=False)
            self.past = nn.Sequential(shortcut, nn.BatchNorm2d(4 * width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return functional.relu(self.body(x) + self.past(x))


def resnet() -> nn.Module:
    """Return a ResNet-50."""
    layers: list[nn.Module] = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64)]
    layers += [nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    inputs = 64
    for width, count, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for k in range(count):
            layers.append(Bottleneck(inputs, width, stride if k == 0 else 1))
            inputs = 4 * width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, 1000))


def text(samples: int, length: int) -> list[torch.Tensor]:
    return [torch.randint(VOCABULARY, (samples, length)) for _ in range(2)]


def pictures() -> list[torch.Tensor]:
    return [torch.randn(64, 3, 224, 224), torch.randint(1000, (64,))]


CASES: dict[str, tuple[Callable[[], nn.Module], Callable[[], list[torch.Tensor]], bool]] = {
    "GPT-2, 8 x 1024 tokens": (Decoder, lambda: text(8, 1024), False),
    "GPT-2, 2 x 64 tokens": (Decoder, lambda: text(2, 64), False),
    "ResNet-50, 64 images": (resnet, pictures, False),
    "ResNet-50, 64 images, channels last": (resnet, pictures, True),
}


def milliseconds(name: str, device: str, half: bool, steps: int) -> dict[str, Any]:
    """Return the milliseconds of a step, and the first and the last loss."""
    make, draw, channels_last = CASES[name]
    torch.manual_seed(0)
    model, (x, y) = make().to(device), (each.to(device) for each in draw())
    if channels_last:
        model, x = (
            model.to(memory_format=torch.channels_last),
            x.contiguous(memory_format=torch.channels_last),
        )
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    losses = []
    module: Any = getattr(torch, device)
    started = 0.0
    for at in range(WARM_UP + steps):
        if at == WARM_UP:
            module.synchronize()
            started = time.perf_counter()
        with torch.autocast(device, torch.bfloat16, enabled=half):
            loss = functional.cross_entropy(model(x).flatten(0, -2), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    module.synchronize()
    taken = (time.perf_counter() - started) / steps * 1e3
    return {"ms": taken, "losses": [float(losses[0]), float(losses[-1])]}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", type=Path, default=Path("build/bench/training.json"))
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--alone", metavar="DEVICE", help="time this device instead of dl")
    parser.add_argument("--peer", type=Path, help="JSON file of a run with --alone")
    arguments = parser.parse_args()
    device = arguments.alone or "dl"
    if not hasattr(torch, device) or not getattr(torch, device).is_available():
        sys.exit(f"benchmarks/training.py: torch has no device {device} here")
    peers: dict[str, Any] = {}
    if arguments.peer is not None:
        peers = json.loads(arguments.peer.read_text(encoding="utf-8"))["rows"]
    rows: dict[str, Any] = {}
    for half in (True, False):
        for name in CASES:
            key = f"{name}, {'bfloat16' if half else 'float32'}"
            row = rows[key] = milliseconds(name, device, half, arguments.steps)
            told = f"{key:48} {row['ms']:8.2f} ms"
            if key in peers:
                row["ratio"] = row["ms"] / peers[key]["ms"]
                told += f"  {peers[key]['ms']:8.2f} ms  {row['ratio']:5.2f}"
            print(told, flush=True)
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    report = {"torch": torch.__version__, "device": device, "rows": rows}
    arguments.json.write_text(json.dumps(report, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
