"""FlexAttention, compiled: dl:cpu compared with torch's CPU.

A row has the median processor times of a call, alternating in one run on one thread, both compiled
by ``torch.compile(flex_attention)``: float32, one sample, 8 heads of 64 elements, without
gradients, because torch has no compiled backward on the CPU.

    python benchmarks/flex_attention.py [--json FILE] [--repeats N] [--lengths N ...]
"""

from __future__ import annotations

import argparse
import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from _in_turn import microseconds_in_turn
from torch import Tensor
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

HEADS, WIDTH = 8, 64
DEVICES = ("cpu", "dl")
Mod = Callable[..., Any]
LARGEST_DIFFERENCE = 1e-4


def causal(b: Any, h: Any, i: Any, j: Any) -> Any:
    return i >= j


def window(length: int, device: str) -> dict[str, Mod]:
    """Return the mask of an eighth of the sequence before each query."""
    return {"mask": lambda b, h, i, j: (i >= j) & (i - j <= length // 8)}


def documents(length: int, device: str) -> dict[str, Mod]:
    """Return a causal mask within eight documents of one length."""
    numbers = torch.arange(length, device=device).div(length // 8, rounding_mode="floor")
    return {"mask": lambda b, h, i, j: (numbers[i] == numbers[j]) & (i >= j)}


def alibi(length: int, device: str) -> dict[str, Mod]:
    """Return a causal mask and a penalty that is linear in the distance."""
    slopes = 2.0 ** -torch.arange(1.0, HEADS + 1, device=device)
    return {"mask": causal, "score": lambda score, b, h, i, j: score + slopes[h] * (j - i)}


ROWS: dict[str, Callable[[int, str], dict[str, Mod]]] = {
    "causal": lambda length, device: {"mask": causal},
    "sliding window": window,
    "documents": documents,
    "ALiBi": alibi,
}


def measure(name: str, length: int, repeats: int) -> dict[str, Any]:
    """Return the medians of one modification, in microseconds."""
    torch._dynamo.reset()
    generator = torch.Generator().manual_seed(0)
    given = [torch.randn(1, HEADS, length, WIDTH, generator=generator) for _ in range(3)]
    runs: dict[str, Callable[[], Any]] = {}
    results: list[Tensor] = []
    with torch.no_grad():
        for device in DEVICES:
            mods = ROWS[name](length, device)
            mask = create_block_mask(mods["mask"], None, None, length, length, device=device)
            query, key, value = (each.to(device) for each in given)
            compiled = torch.compile(flex_attention)
            run: Callable[[], Any] = functools.partial(
                compiled, query, key, value, score_mod=mods.get("score"), block_mask=mask
            )
            results.append(run().cpu())
            run()
            runs[device] = run
        medians = microseconds_in_turn(runs, repeats)
    difference = float((results[0] - results[1]).abs().max())
    if not difference < LARGEST_DIFFERENCE:
        raise SystemExit(f"{name} at length {length}: the results differ by {difference:g}")
    return {
        "modification": name,
        "length": length,
        "microseconds": medians,
        "ratio": medians["dl"] / medians["cpu"],
    }


def main() -> int:
    """Measure, print a table, and write JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--json", type=Path, default=Path("build/bench/flex_attention.json"))
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--lengths", type=int, nargs="+", default=[512, 1024, 2048])
    parser.add_argument("--only", nargs="*", choices=ROWS, default=list(ROWS))
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    rows = []
    print(f"{'modification':<16}{'length':>7}{'dl, us':>10}{'/ torch CPU':>13}")
    for name in arguments.only:
        for length in arguments.lengths:
            row = measure(name, length, arguments.repeats)
            rows.append(row)
            time = row["microseconds"]["dl"]
            print(f"{name:<16}{length:>7}{time:>10.0f}{row['ratio']:>13.2f}", flush=True)
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
