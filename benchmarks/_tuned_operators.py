"""Operators of real models: tuned, compared with the vendor's default, and measured again."""

from __future__ import annotations

import math
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from diopi_proto.choices import ChoiceKey
from dl_autotune.operators.call import Call
from dl_autotune.operators.plan import OperatorPlan
from dl_autotune.operators.tuner import ask_child, tune_call
from dl_autotune.runners.database import Database


def tensor(*shape: int) -> dict[str, Any]:
    return {"shape": list(shape), "dtype": "float32"}


def product(name: str, *shapes: tuple[int, ...]) -> Call:
    return Call(name, tuple(tensor(*shape) for shape in shapes), {})


def convolution(image: tuple[int, ...], weight: tuple[int, ...], **options: int) -> Call:
    return Call("conv2d", (tensor(*image), tensor(*weight)), options)


CALLS = {
    "BERT query, 128 tokens": product("linear", (128, 768), (768, 768), (768,)),
    "BERT up": product("linear", (128, 768), (3072, 768), (3072,)),
    "BERT down": product("linear", (128, 3072), (768, 3072), (768,)),
    "BERT scores": product("bmm", (12, 128, 64), (12, 64, 128)),
    "BERT context": product("bmm", (12, 128, 128), (12, 128, 64)),
    "GPT-2 one token": product("linear", (1, 768), (2304, 768), (2304,)),
    "GPT-2 four tokens": product("linear", (4, 768), (3072, 768), (3072,)),
    "Llama-like gate, 16 tokens": product("linear", (16, 1024), (2816, 1024)),
    "ViT-S patches": product("mm", (197, 384), (384, 1536)),
    "ViT-S scores": product("bmm", (6, 197, 64), (6, 64, 197)),
    "small transformer": product("linear", (256, 64), (128, 64), (128,)),
    "small scores": product("bmm", (32, 32, 16), (32, 16, 32)),
    "classifier": product("linear", (32, 512), (1000, 512), (1000,)),
    "weight gradient": product("mm", (768, 128), (128, 768)),
    "tiny MLP": product("linear", (64, 32), (32, 32), (32,)),
    "ResNet stem": convolution((1, 3, 112, 112), (64, 3, 7, 7), stride=2, padding=3),
    "ResNet 3x3, 28": convolution((1, 128, 28, 28), (128, 128, 3, 3), padding=1),
    "ResNet 1x1, 14": convolution((1, 1024, 14, 14), (256, 1024, 1, 1)),
    "ResNet 3x3, 7": convolution((1, 512, 7, 7), (512, 512, 3, 3), padding=1),
    "MobileNet depthwise": convolution((1, 96, 28, 28), (96, 1, 3, 3), padding=1, groups=96),
    "MobileNet pointwise": convolution((1, 96, 28, 28), (24, 96, 1, 1)),
    "LeNet": convolution((8, 1, 28, 28), (6, 1, 5, 5)),
    "ViT patch embedding": convolution((1, 3, 224, 224), (384, 3, 16, 16), stride=16),
    "attention": product("scaled_dot_product_attention", *[(1, 12, 128, 64)] * 3),
    "softmax": Call("softmax", (tensor(1536, 128),), {"dim": -1}),
    "layer norm sums": Call("sum", (tensor(128, 768),), {"dim": -1}),
}


def tune_operators(seconds: float, processes: int, only: str) -> dict[str, dict[str, Any]]:
    """Tune each call, measure the chosen candidate again in another process, and print a row."""
    rows: dict[str, dict[str, Any]] = {}
    plan = OperatorPlan(seconds, processes)
    with tempfile.TemporaryDirectory() as folder:
        database = Database(Path(folder) / "tuning.sqlite")
        for name, call in CALLS.items():
            if only not in name:
                continue
            tuned = tune_call(call, "cpu", database, plan)
            row: dict[str, Any] = {"microseconds": tuned.seconds * 1e6, "ratio": 1.0, "rerun": None}
            verdict = "nothing to choose" if not tuned.seconds else "no significant winner"
            if tuned.chosen and tuned.claimed is not None:
                interval = tuned.claimed.interval
                job = {"do": "race", "call": call.as_json(), "vendor": "cpu", "seconds": seconds}
                again = ask_child({**job, "seed": 99, "table": dict(tuned.chosen)})["ratio"]
                chosen = ", ".join(tuned.chosen.values())
                held = "held" if again in interval else "NOT HELD"
                row |= {"ratio": interval.ratio, "low": interval.low, "high": interval.high}
                row |= {"chosen": chosen, "rerun": again}
                verdict = f"{interval}, {chosen}; again {again:.3f}, {held}"
            rows[name] = row
            print(f"{name:28} {row['microseconds']:9.1f} us  {verdict}", flush=True)
    mean = math.exp(statistics.mean(math.log(row["ratio"]) for row in rows.values()))
    slower = sum(row["rerun"] is not None and row["rerun"] < 1 for row in rows.values())
    print(f"\n{len(rows)} calls: geometric mean {mean:.3f} x, {slower} slower when measured again")
    return rows


def look_up(blocks: int = 200, calls: int = 500) -> dict[str, float]:
    """Print the nanoseconds that a table of 1,000 entries adds to a call, by the fastest blocks."""
    import torch

    from dl_core.torch_backend.tuning import extension

    choices = extension("cpu")
    assert choices is not None
    a, b, out = (torch.ones(4, 4, device="dl") for _ in range(3))
    times: dict[str, list[float]] = {"none": [], "hit": [], "miss": []}

    def once() -> float:
        begin = time.perf_counter()
        for _ in range(calls):
            torch.mm(a, b, out=out)
        return (time.perf_counter() - begin) / calls * 1e9

    choices.record()
    once()
    (record,) = choices.recorded()
    choices.record(0)
    values = record.key.values
    miss = {ChoiceKey("gemm", (*values[:-1], 100 + number)): "own" for number in range(1000)}
    tables = {"none": {}, "hit": {record.key: "own", **miss}, "miss": miss}
    for _ in range(blocks):
        for name, table in tables.items():
            choices.install(table)
            times[name].append(once())
    choices.install({})
    # The fastest block, because disturbances only make blocks slower.
    found = {name: min(times[name]) - min(times["none"]) for name in ("hit", "miss")}
    for name, nanoseconds in found.items():
        print(f"look-up, {name}: {nanoseconds:.0f} ns more per call (fastest of {blocks} blocks)")
    return found
