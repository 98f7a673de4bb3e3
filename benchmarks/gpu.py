"""Speed of the kernels on a GPU: operators of all families at three sizes, by the device's clock.

The peer is torch's own CUDA kernels where torch has CUDA and a card, in the same process and in
turn. Elsewhere it is the roof, measured in the same run: the time that the call's bytes and
floating-point operations take at the rate of a large copy and of the best product. Each row is the
ratio to the peer: above 1, dl is slower. Rows of the smallest size tell what a call costs.

    DL_VENDORS=NAME python benchmarks/gpu.py [--json FILE] [--repeats N] [--sizes NAME ...]
                                             [--only NAME]
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from functools import partial
from pathlib import Path
from typing import Any

import torch
from _gpu_clock import COPIED_BYTES, PRODUCTS, Roof, burst_length, milliseconds
from _kernel_inputs import Call, Inputs, Make
from _kernel_rows import chosen, geometric_mean, measured

SIZES = {"small": 1 << 12, "cached": 1 << 20, "large": 1 << 25}
DTYPES = (torch.float32, torch.bfloat16, torch.float16)


def measure_one(
    make: Make, n: int, dtype: torch.dtype, repeats: int, roof: Roof | None
) -> dict[str, Any]:
    """Medians of both sides, and whether dl ran natively."""
    from dl_core import _C

    device = make(Inputs(n, dtype, "dl"))
    device()
    _C.reset_fallback_stats()
    device()
    row: dict[str, Any] = {"native": not _C.fallback_stats()}
    sides: dict[str, Call] = {"dl": device}
    if roof is None:
        sides["cuda"] = make(Inputs(n, dtype, "cuda"))
    times = {side: burst_length(call, side) for side, call in sides.items()}
    taken: dict[str, list[float]] = {side: [] for side in sides}
    for repeat in range(repeats):
        # Whoever comes second finds warmer caches and a hotter card.
        for side in sorted(sides, reverse=bool(repeat % 2)):
            taken[side].append(milliseconds(sides[side], times[side], side))
    medians = {side: statistics.median(each) for side, each in taken.items()}
    peer = medians["cuda"] if roof is None else roof.milliseconds(device, dtype)
    # A call that moves nothing and multiplies nothing has no roof.
    ratio = medians["dl"] / peer if peer > 0 else None
    return row | {"peer_us": peer * 1e3, "dl_us": medians["dl"] * 1e3, "ratio": ratio}


def measure(arguments: argparse.Namespace, roof: Roof | None) -> list[dict[str, Any]]:
    """One row per operator, dtype and size."""
    rows = []
    for head, make, dtype in chosen(arguments.only, DTYPES):
        for size in arguments.sizes:
            measure_it = partial(measure_one, make, SIZES[size], dtype, arguments.repeats, roof)
            row = head | {"size": size, "elements": SIZES[size]} | measured(measure_it)
            rows.append(row)
            show(row)
    return rows


def show(row: dict[str, Any]) -> None:
    head = f"{row['operator']:20} {row['dtype']:9} {row['size']:7}"
    if row["ratio"] is None:
        print(f"{head}  {row.get('error', 'no work to compare')}", flush=True)
        return
    note = "" if row["native"] else "  (not native)"
    figures = f"{row['peer_us']:11.1f} {row['dl_us']:11.1f} {row['ratio']:7.2f}"
    print(f"{head} {figures}{note}", flush=True)


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Geometric means over native rows, of all and by family, dtype and size."""
    native = [row for row in rows if row["ratio"] is not None and row["native"]]

    def means(key: str) -> dict[str, float | None]:
        groups = sorted({row[key] for row in native})
        return {
            group: geometric_mean([row["ratio"] for row in native if row[key] == group])
            for group in groups
        }

    return {
        "rows": len(rows),
        "native_rows": len(native),
        "geometric_mean": geometric_mean([row["ratio"] for row in native]),
        **{f"by_{key}": means(key) for key in ("size", "dtype", "family")},
    }


def gpu_properties() -> Any:
    """Those of dl:0; ends the program where it is no device of its own."""
    if not hasattr(torch, "dl") or not torch.dl.is_available():
        sys.exit("benchmarks/gpu.py: there is no dl device here; `dl doctor` says why")
    from dl_core import _C

    properties = torch.dl.get_device_properties(0)
    if _C.device_info(0)["host_accessible"]:
        sys.exit(
            f"benchmarks/gpu.py: dl:0 is served by vendor {properties.vendor} from the host's "
            "memory, which benchmarks/kernels.py times; DL_VENDORS names another vendor"
        )
    return properties


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", type=Path, default=Path("build/bench/gpu.json"))
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--sizes", nargs="+", choices=SIZES, default=list(SIZES))
    parser.add_argument(
        "--only", default="", help="a family, or operators whose name has this text"
    )
    parser.add_argument(
        "--roof-bytes", type=int, default=COPIED_BYTES, help="size of the copy that is the roof"
    )
    parser.add_argument(
        "--roof-products", type=int, nargs="+", default=PRODUCTS, help="sides of the products"
    )
    arguments = parser.parse_args()
    properties = gpu_properties()
    torch.set_grad_enabled(False)
    roof = None
    if not torch.cuda.is_available():
        sides = arguments.roof_products
        roof = Roof("dl", arguments.repeats, arguments.roof_bytes, sides)
    peer = "torch's CUDA" if roof is None else "roof"
    print(f"dl:0 is {properties.name}, of vendor {properties.vendor}; the peer is {peer}")
    if roof is not None:
        print(f"copies: {roof.bytes_per_ms / 1e6:.1f} GB/s")
    print("operator             dtype     size        peer us       dl us   ratio")
    rows = measure(arguments, roof)
    total = summary(rows)
    for key in ("size", "dtype", "family"):
        print(f"\ngeometric means by {key}")
        for group, mean in sorted(total[f"by_{key}"].items(), key=lambda item: -item[1]):
            print(f"{group:24} {mean:6.2f}")
    if total["geometric_mean"] is not None:
        print(f"\nall {total['native_rows']} native rows: {total['geometric_mean']:.3f}")
    print(f"{total['rows'] - total['native_rows']} of {total['rows']} rows were not native")
    report = {
        "torch": torch.__version__,
        "device": properties.name,
        "vendor": properties.vendor,
        "peer": peer,
        "rows": rows,
        "summary": total,
    }
    if roof is not None:
        report["bytes_per_second"] = roof.bytes_per_ms * 1e3
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(json.dumps(report, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
