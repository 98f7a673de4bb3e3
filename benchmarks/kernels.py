"""Speed of the kernels: operators of all families at three sizes, against torch's own CPU.

Both sides run in one process, in turn, and each row is the ratio of their medians: above 1, dl is
slower. The sizes are a small tensor whose call costs as much as its elements, one that fits the
caches, and one that does not. With one thread, times are CPU time of the process, so that what else
runs on the machine matters less.

    python benchmarks/kernels.py [--json FILE] [--repeats N] [--threads N ...] [--only TEXT]
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from torch.nn import functional

Call = Callable[[], object]
Make = Callable[["Inputs"], Call]

SIZES = {"small": 1 << 12, "cached": 1 << 17, "large": 1 << 21}
DTYPES = (torch.float32, torch.bfloat16)
SLOW = 1.3
SHORT = 25
"""Elements of a short row: fewer than a processor's registers hold."""
BURST_SECONDS = 0.004
"""A burst repeats a call until the clock's steps and the loop's cost do not matter."""


class Inputs:
    """Tensors of about ``n`` elements, the same on every device."""

    def __init__(self, n: int, dtype: torch.dtype, device: str) -> None:
        self._generator = torch.Generator().manual_seed(0)
        self._dtype, self._device = dtype, device
        side = math.isqrt(n)
        self.n = n
        self.shape = (side, side)
        self.a, self.b, self.c = (self.uniform(side, side) for _ in range(3))
        self.mask = (self.a > 1).to(device)
        self.row = self.uniform(side)
        self.index = torch.randint(side, (side,), generator=self._generator).to(device)

    def uniform(self, *shape: int) -> torch.Tensor:
        values = torch.rand(*shape, generator=self._generator).add_(0.5)
        return values.to(self._dtype).to(self._device)

    def short_rows(self) -> torch.Tensor:
        return self.uniform(self.n // SHORT, SHORT)

    def images(self, channels: int) -> torch.Tensor:
        side = max(8, math.isqrt(self.n // (4 * channels)))
        return self.uniform(4, channels, side, side)

    def heads(self) -> torch.Tensor:
        length = max(16, math.isqrt(self.n // 8))
        return self.uniform(1, 4, length, 32)


def _unary(name: str) -> Make:
    function = getattr(torch, name)
    return lambda x: lambda: function(x.a)


def _binary(name: str) -> Make:
    function = getattr(torch, name)
    return lambda x: lambda: function(x.a, x.b)


def _activation(name: str) -> Make:
    function = getattr(functional, name)
    return lambda x: lambda: function(x.a)


def _backward(forward: Callable[[Inputs, torch.Tensor], torch.Tensor]) -> Make:
    """Forward and backward, which is how training uses it."""

    def make(x: Inputs) -> Call:
        leaf = x.a.detach().clone().requires_grad_()

        def call() -> object:
            with torch.enable_grad():
                return torch.autograd.grad(forward(x, leaf).sum(), leaf)

        return call

    return make


def _short_rows(function: Callable[[torch.Tensor], object]) -> Make:
    def make(x: Inputs) -> Call:
        rows = x.short_rows()
        return lambda: function(rows)

    return make


def _mv_short_rows(x: Inputs) -> Call:
    matrix, vector = x.short_rows(), x.uniform(SHORT)
    return lambda: matrix @ vector


def _convolution(x: Inputs, kernel: int, groups: int = 1) -> Call:
    image = x.images(16)
    weight = x.uniform(16, 16 // groups, kernel, kernel)
    return lambda: functional.conv2d(image, weight, padding=kernel // 2, groups=groups)


def _pool(name: str) -> Make:
    function = getattr(functional, name)

    def make(x: Inputs) -> Call:
        image = x.images(16)
        return lambda: function(image, 2)

    return make


def _batch_norm(x: Inputs) -> Call:
    image = x.images(16)
    mean, deviation = x.uniform(16).float(), x.uniform(16).float()
    return lambda: functional.batch_norm(image, mean, deviation, training=True)


def _group_norm(x: Inputs) -> Call:
    image = x.images(16)
    return lambda: functional.group_norm(image, 4)


def _attention(x: Inputs) -> Call:
    q, k, v = x.heads(), x.heads(), x.heads()
    return lambda: functional.scaled_dot_product_attention(q, k, v)


def _adamw(x: Inputs) -> Call:
    moments = [torch.zeros_like(x.a) for _ in range(2)]
    step = torch.ones((), device=x.a.device)
    parameter, gradient = x.a.clone(), x.b
    return lambda: torch._fused_adamw_(
        [parameter],
        [gradient],
        [moments[0]],
        [moments[1]],
        [],
        [step],
        lr=1e-3,
        beta1=0.9,
        beta2=0.99,
        weight_decay=0.01,
        eps=1e-8,
        amsgrad=False,
        maximize=False,
    )


def _unary_names() -> Iterator[tuple[str, Make]]:
    names = "neg abs sqrt rsqrt reciprocal exp expm1 log log1p sin cos tanh sigmoid erf floor sign"
    for name in names.split():
        yield name, _unary(name)


def _binary_names() -> Iterator[tuple[str, Make]]:
    for name in ["add", "sub", "mul", "div", "maximum", "minimum", "pow", "gt", "eq", "atan2"]:
        yield name, _binary(name)


def _activation_names() -> Iterator[tuple[str, Make]]:
    names = "relu gelu silu leaky_relu elu softplus mish logsigmoid hardsigmoid hardtanh hardswish"
    for name in names.split():
        yield name, _activation(name)


OPERATORS: dict[str, Make] = {
    **dict(_unary_names()),
    **dict(_binary_names()),
    **dict(_activation_names()),
    "add_scalar": lambda x: lambda: x.a + 1.5,
    "add_row": lambda x: lambda: x.a + x.row,
    "add_column": lambda x: lambda: x.a + x.row[:, None],
    "add_transposed": lambda x: lambda: x.a + x.b.t(),
    "copy_transposed": lambda x: lambda: x.a.t().contiguous(),
    "to_float64": lambda x: lambda: x.a.to(torch.float64),
    "clone": lambda x: lambda: x.a.clone(),
    "cat": lambda x: lambda: torch.cat([x.a, x.b], 1),
    "where": lambda x: lambda: torch.where(x.mask, x.a, x.b),
    "masked_fill": lambda x: lambda: x.a.masked_fill(x.mask, 0.0),
    "clamp": lambda x: lambda: x.a.clamp(0.7, 1.2),
    "addcmul": lambda x: lambda: torch.addcmul(x.a, x.b, x.c),
    "lerp": lambda x: lambda: torch.lerp(x.a, x.b, 0.3),
    "sum": lambda x: lambda: x.a.sum(),
    "sum_rows": lambda x: lambda: x.a.sum(1),
    "sum_columns": lambda x: lambda: x.a.sum(0),
    "mean": lambda x: lambda: x.a.mean(1),
    "amax": lambda x: lambda: x.a.amax(1),
    "max_dim": lambda x: lambda: x.a.max(1),
    "argmax": lambda x: lambda: x.a.argmax(1),
    "var": lambda x: lambda: x.a.var(1),
    "cumsum": lambda x: lambda: x.a.cumsum(1),
    "sort": lambda x: lambda: x.a.sort(1),
    "topk": lambda x: lambda: x.a.topk(8, 1),
    "index_select": lambda x: lambda: x.a.index_select(0, x.index),
    "gather": lambda x: lambda: x.a.gather(0, x.index.expand(x.shape)),
    "index": lambda x: lambda: x.a[x.index],
    "embedding": lambda x: lambda: functional.embedding(x.index, x.a),
    "tril": lambda x: lambda: x.a.tril(),
    "softmax": lambda x: lambda: torch.softmax(x.a, 1),
    "softmax_columns": lambda x: lambda: torch.softmax(x.a, 0),
    "log_softmax": lambda x: lambda: torch.log_softmax(x.a, 1),
    "softmax_short_rows": _short_rows(lambda a: torch.softmax(a, 1)),
    "log_softmax_short_rows": _short_rows(lambda a: torch.log_softmax(a, 1)),
    "amax_short_rows": _short_rows(lambda a: a.amax(1)),
    "sum_short_rows": _short_rows(lambda a: a.sum(1)),
    "layer_norm_short_rows": _short_rows(lambda a: functional.layer_norm(a, (SHORT,))),
    "softmax_backward": _backward(lambda x, a: torch.softmax(a, 1) * x.b),
    "layer_norm": lambda x: lambda: functional.layer_norm(x.a, x.shape[1:], x.row, x.row),
    "layer_norm_backward": _backward(
        lambda x, a: functional.layer_norm(a, x.shape[1:], x.row, x.row) * x.b
    ),
    "gelu_backward": _backward(lambda x, a: functional.gelu(a)),
    "cross_entropy": lambda x: lambda: functional.cross_entropy(x.a, x.index),
    "mm": lambda x: lambda: x.a @ x.b,
    "mm_transposed": lambda x: lambda: x.a @ x.b.t(),
    "mv": lambda x: lambda: x.a @ x.row,
    "mv_short_rows": _mv_short_rows,
    "addmm": lambda x: lambda: torch.addmm(x.row, x.a, x.b),
    "conv2d_1x1": lambda x: _convolution(x, 1),
    "conv2d_3x3": lambda x: _convolution(x, 3),
    "conv2d_depthwise": lambda x: _convolution(x, 3, 16),
    "max_pool2d": _pool("max_pool2d"),
    "avg_pool2d": _pool("avg_pool2d"),
    "batch_norm": _batch_norm,
    "group_norm": _group_norm,
    "attention": _attention,
    "fused_adamw": _adamw,
    "dropout": lambda x: lambda: functional.dropout(x.a, 0.1),
}


def burst_length(call: Call) -> int:
    """How often to repeat the call in a burst."""
    call()
    return max(1, min(2000, int(BURST_SECONDS / max(seconds(call, 1), 1e-7))))


def seconds(call: Call, times: int) -> float:
    """Time of one call: of all threads of the process, or, with several threads, of the wall."""
    clock = time.process_time if torch.get_num_threads() == 1 else time.perf_counter
    start = clock()
    for _ in range(times):
        call()
    return (clock() - start) / times


def measure_one(make: Make, n: int, dtype: torch.dtype, repeats: int) -> dict[str, Any]:
    """Medians of both sides, taken in turn, and whether dl ran natively."""
    from dl_core import _C

    host, device = make(Inputs(n, dtype, "cpu")), make(Inputs(n, dtype, "dl"))
    times = burst_length(host)
    device()
    _C.reset_fallback_stats()
    device()
    native = not _C.fallback_stats()
    taken: dict[str, list[float]] = {"cpu": [], "dl": []}
    for repeat in range(repeats):
        # Whoever comes second finds warmer caches and a hotter processor.
        for side in ("cpu", "dl") if repeat % 2 else ("dl", "cpu"):
            taken[side].append(seconds(host if side == "cpu" else device, times))
    cpu, dl = (statistics.median(taken[side]) for side in ("cpu", "dl"))
    return {"cpu_us": cpu * 1e6, "dl_us": dl * 1e6, "ratio": dl / cpu, "native": native}


def measure(repeats: int, threads: int, only: str) -> list[dict[str, Any]]:
    """One row per operator, dtype and size."""
    torch.set_num_threads(threads)
    rows = []
    for name, make in OPERATORS.items():
        if only not in name:
            continue
        for dtype in DTYPES:
            for size, n in SIZES.items():
                row = {
                    "operator": name,
                    "dtype": str(dtype).removeprefix("torch."),
                    "size": size,
                    "elements": n,
                    "threads": threads,
                }
                try:
                    row |= measure_one(make, n, dtype, repeats)
                except (RuntimeError, NotImplementedError) as error:
                    # A dtype that one side lacks is a row without a ratio, not the end.
                    row |= {"ratio": None, "native": False, "error": str(error).splitlines()[0]}
                rows.append(row)
                show(row)
    return rows


def show(row: dict[str, Any]) -> None:
    head = f"{row['operator']:20} {row['dtype']:9} {row['size']:7} {row['threads']:2}"
    if row["ratio"] is None:
        print(f"{head}  {row['error']}", flush=True)
        return
    note = "" if row["native"] else "  (not native)"
    figures = f"{row['cpu_us']:11.1f} {row['dl_us']:11.1f} {row['ratio']:6.2f}"
    print(f"{head} {figures}{note}", flush=True)


def geometric_mean(ratios: list[float]) -> float | None:
    return math.exp(statistics.fmean(map(math.log, ratios))) if ratios else None


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Geometric means by dtype and number of threads, over native rows, and the slow ones."""
    measured = [row for row in rows if row["ratio"] is not None]
    native = [row for row in measured if row["native"]]
    groups = sorted({(row["dtype"], row["threads"]) for row in native})
    return {
        "rows": len(rows),
        "native_rows": len(native),
        "geometric_mean": geometric_mean([row["ratio"] for row in native]),
        "by_group": [
            {
                "dtype": dtype,
                "threads": threads,
                "geometric_mean": geometric_mean(
                    [r["ratio"] for r in native if (r["dtype"], r["threads"]) == (dtype, threads)]
                ),
            }
            for dtype, threads in groups
        ],
        "slow": sorted(
            (row for row in measured if row["ratio"] > SLOW), key=lambda row: -row["ratio"]
        ),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", type=Path, default=Path("build/bench/kernels.json"))
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--only", default="", help="operators whose name has this text")
    arguments = parser.parse_args()
    torch.set_grad_enabled(False)
    print("operator             dtype     size    threads    cpu us       dl us  ratio")
    rows = [
        row
        for threads in arguments.threads
        for row in measure(arguments.repeats, threads, arguments.only)
    ]
    total = summary(rows)
    print(f"\nrows above {SLOW}, slowest first")
    for row in total["slow"]:
        show(row)
    for group in total["by_group"]:
        print(
            f"geometric mean, {group['dtype']}, {group['threads']} thread(s): "
            f"{group['geometric_mean']:.3f}"
        )
    if total["geometric_mean"] is not None:
        print(
            f"geometric mean of {total['native_rows']} native rows: {total['geometric_mean']:.3f}"
        )
    print(f"{total['rows'] - total['native_rows']} of {total['rows']} rows were not native")
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    report = {"torch": torch.__version__, "rows": rows, "summary": total}
    arguments.json.write_text(json.dumps(report, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
