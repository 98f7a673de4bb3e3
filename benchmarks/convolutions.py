"""Convolutions on a GPU by the manufacturer's library and by our own kernels: times of both, and
results compared with float64 by the contract's tolerance.

Each side runs in a separate process, because a process cannot change sides. The vendor's variable
disables the library.

    DL_VENDORS=cuda python benchmarks/convolutions.py [--json FILE] [--repeats N] [--small]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from _gpu_clock import median
from torch.nn.grad import conv2d_input, conv2d_weight, conv3d_input, conv3d_weight

from diopi_proto.tolerance import OpClass, compare

SWITCHES = {"cuda": "DL_CUDA_LIBRARIES"}
"""Variables that disable a vendor's convolution library, by vendor."""
WAYS = ("forward", "input", "weight")


@dataclass(frozen=True)
class Case:
    """A convolution: its sizes, and stride, padding and dilation, equal on all axes."""

    name: str
    input: tuple[int, ...]
    weight: tuple[int, ...]
    stride: int = 1
    padding: int = 0
    dilation: int = 1
    groups: int = 1

    @property
    def windows(self) -> dict[str, int]:
        names = ("stride", "padding", "dilation", "groups")
        return {name: getattr(self, name) for name in names}


CASES = (
    Case("first of a ResNet", (16, 3, 224, 224), (64, 3, 7, 7), 2, 3),
    Case("3x3", (16, 64, 56, 56), (64, 64, 3, 3), 1, 1),
    Case("3x3, stride 2", (16, 128, 28, 28), (256, 128, 3, 3), 2, 1),
    Case("1x1", (16, 256, 28, 28), (512, 256, 1, 1)),
    Case("grouped", (16, 128, 28, 28), (128, 4, 3, 3), 1, 1, 1, 32),
    Case("depthwise", (16, 96, 56, 56), (96, 1, 3, 3), 1, 1, 1, 96),
    Case("dilated", (4, 64, 64, 64), (64, 64, 3, 3), 1, 2, 2),
    Case("of lines", (16, 64, 1, 4096), (64, 64, 1, 5), 2),
    Case("of volumes", (2, 32, 16, 32, 32), (32, 32, 3, 3, 3), 1, 1),
)
SMALL = (
    Case("3x3", (1, 4, 6, 6), (4, 4, 3, 3), 1, 1),
    Case("depthwise", (1, 4, 5, 5), (4, 1, 3, 3), 2, 1, 1, 4),
)
DTYPES = (torch.float32, torch.float16, torch.bfloat16)
LAYOUTS = ("contiguous", "channels last")

Ways = dict[str, Callable[[], torch.Tensor]]


def with_layout(x: torch.Tensor, layout: str) -> torch.Tensor:
    last = torch.channels_last if x.ndim == 4 else torch.channels_last_3d
    return x.contiguous(memory_format=last if layout != "contiguous" else torch.contiguous_format)


def operands(case: Case, dtype: torch.dtype) -> tuple[torch.Tensor, ...]:
    """Return input, weight and output gradient on the CPU; equal in each process."""
    torch.manual_seed(0)
    x, w = torch.randn(case.input).to(dtype), torch.randn(case.weight).to(dtype)
    convolve = torch.conv2d if x.ndim == 4 else torch.conv3d
    sizes = convolve(x.to("meta"), w.to("meta"), **case.windows).shape
    return x, w, torch.randn(sizes).to(dtype)


def ways(case: Case, x: torch.Tensor, w: torch.Tensor, y: torch.Tensor) -> Ways:
    """Return the calls of a convolution: its output, and the gradients of input and weight."""
    flat = x.ndim == 4
    convolve = torch.conv2d if flat else torch.conv3d
    of_input, of_weight = (conv2d_input, conv2d_weight) if flat else (conv3d_input, conv3d_weight)
    return {
        "forward": lambda: convolve(x, w, **case.windows),
        "input": lambda: of_input(x.shape, w, y, **case.windows),
        "weight": lambda: of_weight(x, w.shape, y, **case.windows),
    }


def terms(case: Case, way: str, y: torch.Tensor) -> int:
    """Return the maximum number of products that are summed for an element."""
    taps = int(np.prod(case.weight[2:]))
    if way == "weight":
        return y.numel() // y.shape[1]
    return taps * (case.weight[1] if way == "forward" else case.weight[0] // case.groups)


def each(cases: tuple[Case, ...]) -> list[tuple[str, Case, torch.dtype, str]]:
    return [
        (f"{case.name}, {str(dtype).removeprefix('torch.')}, {layout}", case, dtype, layout)
        for case in cases
        for dtype in DTYPES
        for layout in LAYOUTS
    ]


def measure(cases: tuple[Case, ...], repeats: int, folder: Path) -> None:
    """Measure one side: write results as arrays, and milliseconds as JSON."""
    times: dict[str, float] = {}
    results: dict[str, Any] = {}
    for name, case, dtype, layout in each(cases):
        given = [with_layout(x, layout).to("dl") for x in operands(case, dtype)]
        with torch.no_grad():
            for way, call in ways(case, *given).items():
                results[f"{name}, {way}"] = call().float().cpu().contiguous().numpy()
                times[f"{name}, {way}"] = median(call, "dl", repeats)
    np.savez(folder / "results.npz", **results)
    (folder / "times.json").write_text(json.dumps(times), encoding="utf-8")


def side(arguments: argparse.Namespace, folder: Path, variables: dict[str, str]) -> dict[str, Any]:
    folder.mkdir()
    command = [sys.executable, __file__, "--measure", str(folder)]
    command += ["--repeats", str(arguments.repeats), *(["--small"] if arguments.small else [])]
    subprocess.run(command, env={**os.environ, **variables}, check=True)
    times = json.loads((folder / "times.json").read_text(encoding="utf-8"))
    return {"times": times, "results": np.load(folder / "results.npz")}


def judge(cases: tuple[Case, ...], sides: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a row for each convolution: the times, and the sides that exceed the tolerance."""
    rows = []
    for name, case, dtype, _ in each(cases):
        given = operands(case, dtype)
        with torch.no_grad():
            exact = ways(case, *(x.double() for x in given))
            sizes = ways(case, *(x.double().abs() for x in given))
            for way in WAYS:
                key = f"{name}, {way}"
                row: dict[str, Any] = {"convolution": key}
                want, magnitude = exact[way]().numpy(), sizes[way]().numpy()
                for of, found in sides.items():
                    result = found["results"][key]
                    verdict = compare(
                        result.astype("float16") if dtype == torch.float16 else result,
                        want,
                        dtype=str(dtype).removeprefix("torch."),
                        op_class=OpClass.MATMUL,
                        reduction_length=terms(case, way, given[2]),
                        magnitude=magnitude,
                    )
                    row |= {f"{of}_right": bool(verdict.ok), f"{of}_ms": found["times"][key]}
                row["ratio"] = row["library_ms"] / row["kernels_ms"]
                rows.append(row)
                wrong = " ".join(of for of in sides if not row[f"{of}_right"])
                figures = f"{row['library_ms']:9.4f} {row['kernels_ms']:9.4f} {row['ratio']:6.2f}"
                print(f"{key:52} {figures}{'  WRONG: ' + wrong if wrong else ''}", flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", type=Path, default=Path("build/bench/convolutions.json"))
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--small", action="store_true", help="a few small ones, for a simulator")
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    cases = SMALL if arguments.small else CASES
    if arguments.measure is not None:
        measure(cases, arguments.repeats, arguments.measure)
        # Exit at once, without the driver's cleanup at the end of a process.
        sys.stdout.flush()
        os._exit(0)
    if not hasattr(torch, "dl") or not torch.dl.is_available():
        sys.exit("benchmarks/convolutions.py: there is no dl device here; `dl doctor` says why")
    properties = torch.dl.get_device_properties(0)
    if properties.vendor not in SWITCHES:
        print(f"vendor {properties.vendor} has no library for convolutions")
        return
    from dl_vendor_cuda.libraries import libraries

    print(f"dl:0 is {properties.name}; cuDNN: {libraries()['cuDNN']}")
    print(f"{'convolution':52} {'library':>9} {'kernels':>9} {'ratio':>6}  (milliseconds)")
    with TemporaryDirectory() as folder:
        sides = {
            "library": side(arguments, Path(folder) / "library", {}),
            "kernels": side(
                arguments, Path(folder) / "kernels", {SWITCHES[properties.vendor]: "off"}
            ),
        }
        rows = judge(cases, sides)
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    report = {"device": properties.name, "cases": [asdict(case) for case in cases], "rows": rows}
    arguments.json.write_text(json.dumps(report, indent=1), encoding="utf-8")
    wrong = [row for row in rows if not (row["library_right"] and row["kernels_right"])]
    if wrong:
        sys.exit(f"{len(wrong)} of {len(rows)} convolutions exceed the tolerance")


if __name__ == "__main__":
    main()
