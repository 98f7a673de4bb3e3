"""Dynamic sizes: a decoding loop with a growing key-value cache, in batches of varying size.

The benchmark counts how often a graph is recorded, and measures the processor time of the first
call, of calls at new sizes, and of calls at earlier sizes, compared with eager mode in the same run
and with programs for one layout each.

    python benchmarks/sizes.py [--json FILE] [--lengths N] [--batches N ...]
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

import dl_dicp.compiled
from dl_dicp import statistics as counters

WIDTH, HEADS, WORDS = 64, 4, 100
Cache = list[tuple[Tensor, Tensor]]
FIRST = 7
"""Tokens in the cache at first; Dynamo would identify this size with an equal batch size."""


class Layer(nn.Module):
    """Pre-norm attention, which returns its cache one token longer, and a gated product."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.gate, self.up = nn.Linear(WIDTH, 2 * WIDTH), nn.Linear(WIDTH, 2 * WIDTH)
        self.down = nn.Linear(2 * WIDTH, WIDTH)

    def forward(self, x: Tensor, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        q, k, v = (
            part.view(x.shape[0], 1, HEADS, -1).transpose(1, 2)
            for part in self.qkv(self.first(x)).chunk(3, dim=-1)
        )
        keys, values = torch.cat([keys, k], 2), torch.cat([values, v], 2)
        attended = F.scaled_dot_product_attention(q, keys, values)
        x = x + self.out(attended.transpose(1, 2).flatten(2))
        y = self.second(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y)), keys, values


class Decoder(nn.Module):
    """Two layers; the output layer is the embedding."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.layers = nn.ModuleList(Layer() for _ in range(2))

    def forward(self, word: Tensor, cache: Cache) -> tuple[Tensor, Cache]:
        x, grown = self.words(word), []
        for layer, (keys, values) in zip(self.layers, cache, strict=True):
            x, *both = layer(x, keys, values)
            grown.append(tuple(both))
        return F.linear(x, self.words.weight), grown


def empty(batch: int) -> Cache:
    """Return a cache of ``FIRST`` tokens for each layer."""
    numbers = torch.Generator().manual_seed(batch)
    shape = (batch, HEADS, FIRST, WIDTH // HEADS)
    return [tuple(torch.randn(shape, generator=numbers).to("dl") for _ in "kv") for _ in range(2)]


def decode(run: Callable[..., tuple[Tensor, Cache]], batch: int, lengths: int) -> list[float]:
    """Return the processor time of each step, in seconds."""
    word, cache, times = torch.ones(batch, 1, dtype=torch.long, device="dl"), empty(batch), []
    for _ in range(lengths):
        start = time.process_time()
        scores, cache = run(word, cache)
        word = scores.argmax(-1)
        times.append(time.process_time() - start)
    return times


def measure(batches: list[int], lengths: int, one_layout: bool) -> dict[str, object]:
    """Return a row of the table."""
    torch._dynamo.reset()
    counters.reset()
    torch.manual_seed(0)
    model = Decoder().to("dl").eval()
    compiled = torch.compile(model, backend="dl", dynamic=True)
    found = dl_dicp.compiled.shapes_of
    with (
        torch.no_grad(),
        patch.object(dl_dicp.compiled, "shapes_of", (lambda _: None) if one_layout else found),
    ):
        new = [decode(compiled, batch, lengths) for batch in batches]
        # Only the last batch, because a program caches the results of 64 tuples of sizes.
        seen = [decode(compiled, batches[-1], lengths) for _ in range(2)][1:]
        eager = [decode(model, batch, lengths) for batch in batches]
    rest = [t for times in new for t in times][2:]
    return {
        "programs": "one for each layout" if one_layout else "one for all sizes",
        "layouts": len(batches) * lengths,
        "recorded": counters.recorded,
        "compiled": counters.compiled,
        "eager_runs": counters.eager.total(),
        "first_call_s": new[0][0],
        "new_sizes_ms": 1e3 * statistics.median(rest),
        "known_sizes_ms": 1e3 * statistics.median(t for times in seen for t in times),
        "eager_ms": 1e3 * statistics.median(t for times in eager for t in times),
        "loop_s": sum(rest),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path)
    parser.add_argument("--lengths", type=int, default=40)
    parser.add_argument("--batches", type=int, nargs="+", default=[2, 3, 5])
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    measure([2], 3, one_layout=False)  # excludes imports and compilation that happen once
    rows = [measure(arguments.batches, arguments.lengths, each) for each in (False, True)]
    for name in rows[0]:
        print(
            f"{name:16}",
            *(
                f"{r[name]:>22.4g}" if isinstance(r[name], float) else f"{r[name]:>22}"
                for r in rows
            ),
        )
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
