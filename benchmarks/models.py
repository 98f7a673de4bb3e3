"""Training steps of the three example models on dl and on the CPU, with a breakdown of time.

Each case is one model in one dtype with one number of threads. Steps on the two devices alternate
in one process, on the same data; the figures are medians. The shares are the fractions of a dl step
in products and convolutions (for which the vendor calls installed libraries), in its other kernels,
in fallbacks to torch's CPU kernels, and elsewhere (Python, autograd, dispatch). With
``--without-libraries`` the vendor uses only its own kernels.

    python benchmarks/models.py [--json FILE] [--repeats N] [--quick] [--without-libraries]
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

MODELS = ("cnn", "encoder", "decoder")
DTYPES = ("float32", "bfloat16")
THREADS = (1, 2)
EXAMPLES = Path(__file__).parents[1] / "examples"
# Otherwise, idle threads of torch's and the vendor's pools spin and delay each other.
ENVIRONMENT = {"OMP_WAIT_POLICY": "passive"}
# Operators for which a vendor may call a library.
PRODUCTS = {"mm", "addmm", "bmm", "baddbmm", "convolution", "convolution_backward"}
PORTABLE = {"DL_CPU_ONEDNN": "off", "DL_CPU_OPENBLAS": "off"}


def training_step(model: str, device: str, dtype: str, quick: bool) -> Callable[[], float]:
    """Return a function that trains one step on fixed data and returns the loss."""
    import torch

    sys.path.insert(0, str(EXAMPLES))
    from common import autocast

    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(0)
    where = torch.device(device)
    if model == "cnn":
        from train_cnn import BATCH, ResNet18

        net: torch.nn.Module = ResNet18(16 if quick else 32, 0.0).to(where)
        images = torch.randn(BATCH, 1, 8, 8, generator=generator).to(where)
        labels = torch.randint(10, (BATCH,), generator=generator).to(where)
        optimizer: torch.optim.Optimizer = torch.optim.SGD(net.parameters(), 0.005, momentum=0.9)

        def loss_of() -> torch.Tensor:
            return torch.nn.functional.cross_entropy(net(images), labels)
    else:
        rows, length = (4, 64) if quick else (16, 128)
        tokens = torch.randint(256, (rows, length), generator=generator).to(where)
        if model == "encoder":
            from train_encoder import build_model
        else:
            from train_decoder import build_model
        net = build_model(length, 0.0).to(where)
        optimizer = torch.optim.AdamW(net.parameters(), lr=5e-4)

        def loss_of() -> torch.Tensor:
            return net(input_ids=tokens, labels=tokens).loss

    net.train()

    def step() -> float:
        optimizer.zero_grad()
        with autocast(where, dtype):
            loss = loss_of()
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


def seconds(step: Callable[[], float]) -> float:
    start = time.perf_counter()
    step()
    return time.perf_counter() - start


def shares(step: Callable[[], float]) -> dict[str, float]:
    """Return the shares of one dl step's time; every call is timed."""
    import torch

    torch.dl.reset_native_stats()
    torch.dl.reset_fallback_stats()
    with torch.dl.profile_operators():
        total = seconds(step)
    parts = {"products": 0.0, "kernels": 0.0, "fallbacks": 0.0}
    for overload, entry in torch.dl.native_stats().items():
        parts["products" if overload in PRODUCTS else "kernels"] += entry["nanoseconds"] / 1e9
    for entry in torch.dl.fallback_stats().values():
        parts["fallbacks"] += entry["nanoseconds"] / 1e9
    # Calls in other threads may overlap.
    parts["elsewhere"] = max(0.0, total - sum(parts.values()))
    return {name: spent / total for name, spent in parts.items()}


def measure(model: str, dtype: str, threads: int, repeats: int, quick: bool) -> dict[str, Any]:
    """Measure one case in this process."""
    import torch

    torch.set_num_threads(threads)
    steps = {device: training_step(model, device, dtype, quick) for device in ("cpu", "dl")}
    losses = {device: [step() for _ in range(2)] for device, step in steps.items()}
    times: dict[str, list[float]] = {device: [] for device in steps}
    for _ in range(repeats):
        for device, step in steps.items():
            times[device].append(seconds(step))
    median = {device: statistics.median(values) for device, values in times.items()}
    return {
        "model": model,
        "dtype": dtype,
        "threads": threads,
        "cpu_ms": median["cpu"] * 1e3,
        "dl_ms": median["dl"] * 1e3,
        "ratio": median["dl"] / median["cpu"],
        "shares": shares(steps["dl"]),
        "losses": losses,
    }


def in_a_process(arguments: argparse.Namespace, case: tuple[str, str, int]) -> dict[str, Any]:
    """Measure a case in a new process, with new thread pools and allocators."""
    command = [sys.executable, __file__, "--case", *map(str, case)]
    command += ["--repeats", str(arguments.repeats), *(["--quick"] if arguments.quick else [])]
    added = {**ENVIRONMENT, **(PORTABLE if arguments.without_libraries else {})}
    done = subprocess.run(
        command, env={**os.environ, **added}, stdout=subprocess.PIPE, text=True, check=True
    )
    row: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", type=Path, default=Path("build/bench/models.json"))
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--quick", action="store_true", help="use small models and batches")
    parser.add_argument("--without-libraries", action="store_true")
    parser.add_argument("--case", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.case:
        model, dtype, threads = arguments.case
        row = measure(model, dtype, int(threads), arguments.repeats, arguments.quick)
        print(json.dumps(row))
        return
    import torch

    print("model    dtype    threads   cpu ms    dl ms  ratio products kernels fallbacks elsewhere")
    rows = []
    for case in [(m, d, t) for m in MODELS for d in DTYPES for t in THREADS]:
        row = in_a_process(arguments, case)
        rows.append(row)
        part = row["shares"]
        print(
            f"{row['model']:8} {row['dtype']:8} {row['threads']:7} {row['cpu_ms']:8.1f} "
            f"{row['dl_ms']:8.1f} {row['ratio']:6.2f} {part['products']:8.0%} "
            f"{part['kernels']:7.0%} {part['fallbacks']:9.0%} {part['elsewhere']:9.0%}",
            flush=True,
        )
    mean = math.exp(statistics.fmean(math.log(row["ratio"]) for row in rows))
    print(f"geometric mean of the ratios to torch CPU: {mean:.2f} ({len(rows)} cases)")
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    report = {
        "torch": torch.__version__,
        "repeats": arguments.repeats,
        "quick": arguments.quick,
        "libraries": not arguments.without_libraries,
        "environment": ENVIRONMENT,
        "rows": rows,
        "geometric_mean": mean,
    }
    arguments.json.write_text(json.dumps(report, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
