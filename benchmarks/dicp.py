"""The graph compiler against eager dl and against Inductor on the CPU.

Models are built here, with random weights. A row has the median time of one call, each way of
running it interleaved with the others in the same run, on one thread. It is the processor's time:
on a machine that does other work, the clock's would tell of that. Ratios below 1 are in favour of
the compiler. The last column is its engine `inductor` against Inductor on tensors of the CPU.

    python benchmarks/dicp.py [--json FILE] [--repeats N] [--only NAME ...] [--no-inductor]
"""

from __future__ import annotations

import argparse
import copy
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

# Before torch reads it: all sides have one thread.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch
from _in_turn import microseconds_in_turn
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from dl_dicp import statistics as counters
from dl_dicp.codegen.racing import RUNS, wait_for_kernels

WORDS = 512

BY_INDUCTOR = "engine inductor"
"""The way of running a model by Inductor on tensors of dl."""


class Layer(nn.Module):
    """A layer of BERT (norms behind, GELU) or GPT-2 (norms before, a causal mask)."""

    def __init__(self, width: int, heads: int, causal: bool) -> None:
        super().__init__()
        self.heads, self.causal = heads, causal
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)

    def attend(self, x: Tensor) -> Tensor:
        batch, length, width = x.shape
        parts = self.qkv(x).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        made = F.scaled_dot_product_attention(*parts.unbind(0), is_causal=self.causal)
        return self.out(made.transpose(1, 2).reshape(batch, length, width))

    def forward(self, x: Tensor) -> Tensor:
        if self.causal:
            x = x + self.attend(self.first(x))
            return x + self.down(F.gelu(self.up(self.second(x)), approximate="tanh"))
        x = self.first(x + self.attend(x))
        return self.second(x + self.down(F.gelu(self.up(x))))


class Transformer(nn.Module):
    """BERT-like or GPT-2-like."""

    def __init__(self, causal: bool, width: int = 256, layers: int = 2) -> None:
        super().__init__()
        self.words = nn.Embedding(WORDS, width)
        self.places = nn.Parameter(torch.randn(128, width) / 10)
        self.layers = nn.Sequential(*(Layer(width, 4, causal) for _ in range(layers)))

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.layers(self.words(tokens) + self.places[: tokens.shape[1]])
        return F.linear(x, self.words.weight)


class LlamaLayer(nn.Module):
    """RMS norm, rotary embedding, SwiGLU, a cache that calls change."""

    def __init__(self, width: int, heads: int, most: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        self.gate, self.up = (nn.Linear(width, 2 * width, bias=False) for _ in range(2))
        self.down = nn.Linear(2 * width, width, bias=False)
        self.first, self.second = (nn.Parameter(torch.ones(width)) for _ in range(2))
        for name in ("keys", "values"):
            self.register_buffer(name, torch.zeros(1, heads, most, width // heads))

    @staticmethod
    def normed(x: Tensor, scale: Tensor) -> Tensor:
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * scale

    @staticmethod
    def rotated(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        first, second = x.chunk(2, dim=-1)
        return x * cos + torch.cat([-second, first], -1) * sin

    def forward(self, x: Tensor, places: Tensor, cos: Tensor, sin: Tensor, seen: Tensor) -> Tensor:
        q, k, v = (
            part.view(1, x.shape[1], self.heads, -1).transpose(1, 2)
            for part in self.qkv(self.normed(x, self.first)).chunk(3, dim=-1)
        )
        self.keys.index_copy_(2, places, self.rotated(k, cos, sin))
        self.values.index_copy_(2, places, v)
        made = F.scaled_dot_product_attention(
            self.rotated(q, cos, sin), self.keys, self.values, attn_mask=seen
        )
        x = x + self.out(made.transpose(1, 2).flatten(2))
        y = self.normed(x, self.second)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Llama(nn.Module):
    """Llama-like, with a cache of `most` places."""

    def __init__(self, width: int = 256, layers: int = 2, most: int = 128) -> None:
        super().__init__()
        self.words = nn.Embedding(WORDS, width)
        self.layers = nn.ModuleList(LlamaLayer(width, 4, most) for _ in range(layers))
        head = width // 4
        angles = torch.outer(torch.arange(most), 10 ** (-4 * torch.arange(0, head, 2) / head))
        self.register_buffer("cos", torch.cat([angles.cos()] * 2, -1))
        self.register_buffer("sin", torch.cat([angles.sin()] * 2, -1))
        self.most = most

    def forward(self, tokens: Tensor, places: Tensor) -> Tensor:
        x = self.words(tokens)
        cos, sin = self.cos[places], self.sin[places]
        seen = torch.arange(self.most, device=x.device) <= places[:, None]
        for layer in self.layers:
            x = layer(x, places, cos, sin, seen)
        return F.linear(x[:, -1:], self.words.weight)


class Block(nn.Module):
    """Two convolutions and a shortcut."""

    def __init__(self, channels: int, out: int, stride: int) -> None:
        super().__init__()
        self.one = nn.Conv2d(channels, out, 3, stride, 1, bias=False)
        self.two = nn.Conv2d(out, out, 3, 1, 1, bias=False)
        self.first, self.second = nn.BatchNorm2d(out), nn.BatchNorm2d(out)
        self.short = nn.Conv2d(channels, out, 1, stride, bias=False) if stride > 1 else None

    def forward(self, x: Tensor) -> Tensor:
        y = self.second(self.two(F.relu(self.first(self.one(x)))))
        return F.relu(y + (x if self.short is None else self.short(x)))


def resnet() -> nn.Module:
    """ResNet-18's four stages of two blocks, for images of 64x64."""
    stages = [nn.Conv2d(3, 32, 7, 2, 3, bias=False), nn.BatchNorm2d(32), nn.ReLU()]
    channels = 32
    for out, stride in ((32, 1), (64, 2), (128, 2), (256, 2)):
        stages += [Block(channels, out, stride), Block(out, out, 1)]
        channels = out
    return nn.Sequential(*stages, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(256, 10))


def tokens(batch: int, length: int) -> Tensor:
    """Numbers of words."""
    return torch.randint(0, WORDS, (batch, length))


Inputs = tuple[Tensor, ...]
Run = Callable[[], Tensor]
MODELS: dict[str, tuple[Callable[[], nn.Module], Callable[[], Inputs], bool]] = {
    "BERT": (lambda: Transformer(causal=False), lambda: (tokens(2, 64),), False),
    "GPT-2": (lambda: Transformer(causal=True), lambda: (tokens(2, 64),), False),
    "Llama prefill": (Llama, lambda: (tokens(1, 64), torch.arange(64)), False),
    "Llama decode": (Llama, lambda: (tokens(1, 1), torch.tensor([64])), False),
    "ResNet-18": (resnet, lambda: (torch.randn(1, 3, 64, 64),), False),
    "BERT training": (lambda: Transformer(causal=False), lambda: (tokens(2, 64),), True),
}
"""By name: the model, its inputs, and whether a step of training is measured."""


def runner(run: Callable[..., Tensor], inputs: Inputs, model: nn.Module, trains: bool) -> Run:
    """What is measured; it returns the result, or the loss."""

    def infer() -> Tensor:
        with torch.no_grad():
            return run(*inputs)

    def train() -> Tensor:
        model.zero_grad()
        loss = run(*inputs).square().mean()
        loss.backward()
        return loss.detach()

    return train if trains else infer


def ways(name: str, inductor: bool) -> dict[str, Run]:
    """The ways of running a model, each with weights of its own."""
    make, inputs, trains = MODELS[name]
    torch.manual_seed(0)
    model = make().train(trains)
    given = inputs()

    def on(device: str, backend: str | None, **options: str) -> Run:
        own = copy.deepcopy(model).to(device)
        run = own if backend is None else torch.compile(own, backend=backend, options=options)
        return runner(run, tuple(x.to(device) for x in given), own, trains)

    made = {
        "eager dl": on("dl", None),
        "dl-dicp": on("dl", "dl"),
        "codegen": on("dl", "dl", engine="codegen"),
        "eager CPU": on("cpu", None),
    }
    if not inductor:
        return made
    made[BY_INDUCTOR] = on("dl", "dl", engine="inductor")
    return {**made, "Inductor": on("cpu", "inductor")}


def measure(name: str, repeats: int, inductor: bool) -> dict[str, Any]:
    """Medians of one model, in microseconds of processor time."""
    torch._dynamo.reset()
    counters.reset()
    runs = ways(name, inductor)
    first: dict[str, float] = {}
    results: dict[str, Tensor] = {}
    for way, run in runs.items():
        start = time.process_time()
        run()
        results[way] = run().cpu()
        first[way] = time.process_time() - start
        run()
        if way == "codegen":
            wait_for_kernels()
            for _ in range(2 * RUNS + 2):  # they are checked, and race
                run()
    worst = max(float((r - results["eager CPU"]).abs().max()) for r in results.values())
    medians = microseconds_in_turn(runs, repeats)
    seen = counters.snapshot()
    return {
        "model": name,
        "microseconds": medians,
        "ratios": {way: medians["dl-dicp"] / medians[way] for way in runs if way != "dl-dicp"},
        "of_inductor": medians[BY_INDUCTOR] / medians["Inductor"] if inductor else None,
        "kernels": counters.engine_runs["codegen"],
        "first_two_calls_seconds": first,
        "largest_difference_to_cpu": worst,
        "host_calls": dict(seen.host_calls),
        "eager": dict(seen.eager),
    }


def main() -> int:
    """Measure, print a table, and write JSON."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", type=Path, default=Path("build/bench/dicp.json"))
    parser.add_argument("--repeats", type=int, default=30)
    parser.add_argument("--only", nargs="*", choices=MODELS, default=list(MODELS))
    parser.add_argument("--no-inductor", action="store_true", help="it needs a C++ compiler")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    rows = []
    print(
        f"{'model':<16}{'dl-dicp, us':>13}{'/ eager dl':>13}{'/ eager CPU':>13}{'/ Inductor':>13}"
        f"{'/ codegen':>13}{'inductor / it':>15}"
    )
    for name in arguments.only:
        row = measure(name, arguments.repeats, not arguments.no_inductor)
        rows.append(row)
        shown = [
            f"{row['ratios'][way]:>13.2f}" if way in row["ratios"] else f"{'-':>13}"
            for way in ("eager dl", "eager CPU", "Inductor", "codegen")
        ]
        shown.append(f"{row['of_inductor']:>15.2f}" if row["of_inductor"] else f"{'-':>15}")
        print(f"{name:<16}{row['microseconds']['dl-dicp']:>13.0f}{''.join(shown)}", flush=True)
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
