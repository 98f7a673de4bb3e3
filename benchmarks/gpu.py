"""Speed of the kernels on a GPU: operators of all families at three sizes, timed by events.

If torch has CUDA and a GPU, the peer is torch's own CUDA kernels, alternating in the same process.
Another torch installation can provide their times: `--alone cuda` measures and writes FILE there,
and `--peer FILE` compares with it here. Otherwise the peer is the roofline, measured in the same
run: the time that the call's bytes and floating-point operations take at the rate of a large copy
and of the best product. Each row has the ratio to the peer: above 1, dl is slower. Rows of the
smallest size show the overhead of a call.

    DL_VENDORS=NAME python benchmarks/gpu.py [--json FILE] [--repeats N] [--sizes NAME ...]
                                             [--only NAME] [--peer FILE]
    other-python benchmarks/gpu.py --alone cuda --json FILE [--repeats N] ...
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import torch
from _gpu_clock import COPIED_BYTES, PRODUCTS, Roof, burst_length, milliseconds
from _kernel_inputs import Call, Inputs, Make
from _kernel_rows import chosen, geometric_mean, measured, slowest

SIZES = {"small": 1 << 12, "cached": 1 << 20, "large": 1 << 25}
DTYPES = (torch.float32, torch.bfloat16, torch.float16)
LONG_MILLISECONDS = 100.0
"""Milliseconds from which a call is measured only once."""


Peer = Callable[[Call, dict[str, Any]], float | None]
"""Returns the peer's milliseconds for a call of dl and its row; None if the peer has none."""


@lru_cache(maxsize=len(SIZES) * len(DTYPES))
def inputs(n: int, dtype: torch.dtype, device: str) -> Inputs:
    """Return cached inputs, because drawing large ones takes longer than measuring most rows."""
    return Inputs(n, dtype, device)


def medians_of(sides: dict[str, Call], repeats: int) -> dict[str, float]:
    """Return the milliseconds of both sides, measured alternately."""
    times = {side: burst_length(call, side) for side, call in sides.items()}
    taken: dict[str, list[float]] = {side: [] for side in sides}
    for repeat in range(repeats):
        # The order alternates, because the second side has warmer caches and a hotter GPU.
        for side in sorted(sides, reverse=bool(repeat % 2)):
            taken[side].append(milliseconds(sides[side], times[side], side))
        if max(taken[side][-1] for side in sides) > LONG_MILLISECONDS:
            break
    return {side: statistics.median(each) for side, each in taken.items()}


def measure_one(
    make: Make, head: dict[str, Any], dtype: torch.dtype, repeats: int, peer: Peer | None
) -> dict[str, Any]:
    """Return both medians, and whether dl ran natively; without `peer`, torch's CUDA is timed."""
    from dl_core import _C

    n = head["elements"]
    device = make(inputs(n, dtype, "dl"))
    device()
    _C.reset_fallback_stats()
    device()
    row: dict[str, Any] = {"native": not _C.fallback_stats()}
    sides: dict[str, Call] = {"dl": device}
    if peer is None:
        sides["cuda"] = make(inputs(n, dtype, "cuda"))
    medians = medians_of(sides, repeats)
    other = medians["cuda"] if peer is None else peer(device, head)
    row["dl_us"] = medians["dl"] * 1e3
    # A call without bytes and operations has no roof.
    if not other:
        return row | {"ratio": None}
    return row | {"peer_us": other * 1e3, "ratio": medians["dl"] / other}


def measure_alone(
    device: str, make: Make, head: dict[str, Any], dtype: torch.dtype, repeats: int
) -> dict[str, Any]:
    """Return the median of a device that will be the peer of another run."""
    call = make(inputs(head["elements"], dtype, device))
    taken = medians_of({device: call}, repeats)[device]
    return {"native": True, "ratio": None, "peer_us": taken * 1e3}


def measure(
    arguments: argparse.Namespace, of: Callable[..., dict[str, Any]]
) -> list[dict[str, Any]]:
    """Return one row per operator, dtype and size."""
    rows = []
    for named, make, dtype in chosen(arguments.only, DTYPES):
        for size in arguments.sizes:
            head = named | {"size": size, "elements": SIZES[size]}
            row = head | measured(partial(of, make, head, dtype, arguments.repeats))
            rows.append(row)
            show(row)
    return rows


def roof_as_peer(roof: Roof) -> Peer:
    return lambda call, head: roof.milliseconds(call, getattr(torch, head["dtype"]))


def key_of(row: dict[str, Any]) -> tuple[str, ...]:
    return row["operator"], row["dtype"], row["size"]


def recorded_peer(report: dict[str, Any]) -> Peer:
    """Return the peer's times from the report of another run."""
    found = {key_of(row): row["peer_us"] / 1e3 for row in report["rows"] if "peer_us" in row}
    return lambda call, head: found.get(key_of(head))


def show(row: dict[str, Any]) -> None:
    head = f"{row['operator']:20} {row['dtype']:9} {row['size']:7}"
    if row["ratio"] is None:
        figures = [f"{row[key]:11.1f}" for key in ("peer_us", "dl_us") if key in row]
        print(f"{head} {row.get('error') or ' '.join(figures)}", flush=True)
        return
    note = "" if row["native"] else "  (not native)"
    figures = f"{row['peer_us']:11.1f} {row['dl_us']:11.1f} {row['ratio']:7.2f}"
    print(f"{head} {figures}{note}", flush=True)


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return geometric means over native rows: of all, and by family, dtype and size."""
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
        "slowest": slowest(rows),
        **{f"by_{key}": means(key) for key in ("size", "dtype", "family")},
    }


def gpu_properties() -> Any:
    """Return the properties of dl:0; exit if its memory is the host's."""
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


def write(path: Path, report: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(report, indent=1), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", type=Path, default=Path("build/bench/gpu.json"))
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--sizes", nargs="+", choices=SIZES, default=list(SIZES))
    parser.add_argument(
        "--only", default="", help="a family, or operators whose name contains this text"
    )
    parser.add_argument(
        "--roof-bytes",
        type=int,
        default=COPIED_BYTES,
        help="size of the copy that measures the roof",
    )
    parser.add_argument(
        "--roof-products",
        type=int,
        nargs="+",
        default=PRODUCTS,
        help="sizes of the products that measure the roof",
    )
    parser.add_argument("--alone", metavar="DEVICE", help="time this device instead of dl")
    parser.add_argument("--peer", type=Path, help="JSON file of a run with --alone")
    arguments = parser.parse_args()
    torch.set_grad_enabled(False)
    if arguments.alone is not None:
        rows = measure(arguments, partial(measure_alone, arguments.alone))
        write(arguments.json, {"torch": torch.__version__, "device": arguments.alone, "rows": rows})
        return
    properties = gpu_properties()
    roof, peer, name = None, None, "torch's CUDA"
    if arguments.peer is not None:
        recorded = json.loads(arguments.peer.read_text(encoding="utf-8"))
        peer, name = recorded_peer(recorded), f"{recorded['device']} of torch {recorded['torch']}"
    elif not torch.cuda.is_available():
        sides = arguments.roof_products
        roof = Roof("dl", arguments.repeats, arguments.roof_bytes, sides)
        peer, name = roof_as_peer(roof), "roof"
    print(f"dl:0 is {properties.name}, of vendor {properties.vendor}; the peer is {name}")
    if roof is not None:
        print(f"copies: {roof.bytes_per_ms / 1e6:.1f} GB/s")
    print("operator             dtype     size        peer us       dl us   ratio")
    rows = measure(arguments, partial(measure_one, peer=peer))
    total = summary(rows)
    print(f"\nslowest {len(total['slowest'])} rows")
    for row in total["slowest"]:
        show(row)
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
        "peer": name,
        "rows": rows,
        "summary": total,
    }
    if roof is not None:
        report["bytes_per_second"] = roof.bytes_per_ms * 1e3
    write(arguments.json, report)


if __name__ == "__main__":
    main()
