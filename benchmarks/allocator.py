"""Cost of an allocation and its free, and the share served by the cache in steady state.

Times are nanoseconds of an allocation and its free, called from C++: the median over repetitions
that alternate with torch's CPU allocator. The share of the cache is the share in the second and
later training steps of a small model.

    python benchmarks/allocator.py [--json FILE] [--repeats N]
"""

from __future__ import annotations

import argparse
import json
import statistics
from pathlib import Path
from typing import Any

import torch
from torch.utils import cpp_extension

SIZES = (4, 4_000, 400_000, 4_000_000, 40_000_000)
CALLS = 20_000

SOURCE = """
#include <c10/core/Allocator.h>
#include <chrono>

double pair_ns(bool device, int64_t bytes, int64_t calls) {
  c10::Allocator* allocator =
      c10::GetAllocator(device ? c10::kPrivateUse1 : c10::kCPU);
  const auto start = std::chrono::steady_clock::now();
  for (int64_t i = 0; i < calls; ++i) c10::DataPtr made = allocator->allocate(bytes);
  const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - start;
  return time.count() / calls;
}
"""


def pairs(repeats: int) -> list[dict[str, Any]]:
    """Return one row per size: nanoseconds of an allocation and its free, on dl and on the CPU."""
    timer = cpp_extension.load_inline("dl_allocator_bench", SOURCE, functions=["pair_ns"])
    rows = []
    for size in SIZES:
        times: dict[bool, list[float]] = {True: [], False: []}
        for _ in range(repeats):
            for device, found in times.items():
                found.append(timer.pair_ns(device, size, CALLS))
        dl, cpu = (statistics.median(times[device]) for device in (True, False))
        rows.append({"bytes": size, "dl_ns": dl, "cpu_ns": cpu, "ratio": dl / cpu})
    return rows


def share_from_cache(steps: int = 20) -> float:
    """Return the fraction of allocations in steady training that needed no vendor memory."""
    model = torch.nn.Sequential(
        *(torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.GELU()) for _ in range(6))
    ).to("dl")
    optimizer = torch.optim.AdamW(model.parameters())
    before: dict[str, int] = {}
    for step in range(steps):
        optimizer.zero_grad()
        model(torch.randn(32, 256, device="dl")).square().mean().backward()
        optimizer.step()
        if step == 0:
            before = torch.dl.memory_stats()
    after = torch.dl.memory_stats()
    made = after["num_device_alloc"] - before["num_device_alloc"]
    asked = after["allocation.all.allocated"] - before["allocation.all.allocated"]
    return 1 - made / asked


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", type=Path, default=Path("build/bench/allocator.json"))
    parser.add_argument("--repeats", type=int, default=15)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    rows = pairs(arguments.repeats)
    print("     bytes    dl ns   cpu ns  ratio")
    for row in rows:
        print(f"{row['bytes']:10} {row['dl_ns']:8.1f} {row['cpu_ns']:8.1f} {row['ratio']:6.2f}")
    share = share_from_cache()
    median = statistics.median(row["dl_ns"] for row in rows)
    print(f"median of a pair: {median:.1f} ns; from the cache: {share:.1%}")
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    report = {"torch": torch.__version__, "rows": rows, "median_ns": median, "cached": share}
    arguments.json.write_text(json.dumps(report, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
