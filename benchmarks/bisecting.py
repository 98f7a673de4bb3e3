"""Time of `dl bisect` for two wrong operators out of 200, by forks and by new processes.

    python benchmarks/bisecting.py [--jobs N] [--operators N]

The program calls each operator once on the device, where the results of two are wrong by a tenth.
The peer is the same search with ``--no-fork``, which imports torch in each run.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from torch._C import DispatchKey

UNDEFINED = ("empty_like", "resize_as", "set", "nextafter")
PROGRAM = """
import json, sys, torch
from torch.utils import _python_dispatch
from torch.utils._python_dispatch import TorchDispatchMode

names, guilty = json.load(open(sys.argv[1]))
device = torch.accelerator.current_accelerator()

class Device(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        wrong = str(func) in guilty and result.device.type == device.type
        return result * 1.1 if wrong else result

above = [_python_dispatch._pop_mode() for _ in range(torch._C._len_torch_dispatch_stack())]
Device().__enter__()
for mode in reversed(above):
    _python_dispatch._push_mode(mode)
x = (torch.arange(64.0) / 70 + 0.05).to(device)
total = torch.zeros((), dtype=torch.float64)
for name in names:
    _, base, variant = name.split(".")
    overload = getattr(getattr(torch.ops.aten, base), variant)
    wanted = [str(x.type) for x in overload._schema.arguments if not x.has_default_value()]
    found = overload(*(x if kind == "Tensor" else 0.3 for kind in wanted))
    total += found.cpu().double().square().mean().sqrt().log1p()
print("metric", total.item())
"""


def operators(count: int) -> list[str]:
    """Return overloads that compute a finite floating-point result of up to three arguments."""
    x = torch.arange(64.0) / 70 + 0.05
    found = []
    for full in sorted(torch._C._dispatch_get_all_op_names()):
        name, _, variant = full.removeprefix("aten::").partition(".")
        if not full.startswith("aten::") or name.startswith("_") or "rand" in name:
            continue
        overload = getattr(getattr(torch.ops.aten, name), variant or "default", None)
        if overload is None or not _fits(overload):
            continue
        try:
            result = overload(*(x if kind == "Tensor" else 0.3 for kind in _wanted(overload)))
            numbers = result.layout == torch.strided and result.is_floating_point()
            if numbers and result.numel() and bool(result.isfinite().all()):
                found.append(str(overload))
        except Exception:  # noqa: BLE001 - it requires other arguments
            continue
    return found[:count]


def _wanted(overload: Any) -> list[str]:
    return [str(x.type) for x in overload._schema.arguments if not x.has_default_value()]


def _fits(overload: Any) -> bool:
    schema, wanted = overload._schema, _wanted(overload)
    aliases = [x.alias_info for x in (*schema.arguments, *schema.returns)]
    return (
        [str(x.type) for x in schema.returns] == ["Tensor"]
        and 0 < len(wanted) <= 3
        and set(wanted) <= {"Tensor", "number"}
        and not any(aliases)
        and torch.Tag.nondeterministic_seeded not in overload.tags
        and not overload.has_kernel_for_dispatch_key(DispatchKey.CompositeImplicitAutograd)
        and overload._schema.name.removeprefix("aten::") not in UNDEFINED
    )


def search(folder: Path, count: int, *options: str) -> tuple[float, list[list[str]], int]:
    """Return the seconds, the verdict and the number of runs of one search."""
    state = folder / f"state{len(list(folder.glob('*.json')))}.json"
    command = [
        *(sys.executable, "-m", "dl_core.cli", "bisect", "--no-capture", "--state", str(state)),
        *("--metric", "metric", "--tolerance", "1e-4", *options),
        *("--", sys.executable, str(folder / "program.py"), str(folder / "names")),
    ]
    environment = {**os.environ, "DL_TOOLS_OUTPUT": str(folder / "results")}
    begun = time.perf_counter()
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    took = time.perf_counter() - begun
    if done.returncode:
        raise SystemExit(done.stderr)
    found = json.loads(state.read_text())
    return took, found["verdict"], len(found["runs"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--operators", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if not torch.accelerator.is_available():
        parser.error("this machine has no accelerator on which an operator could be wrong")
    names = operators(options.operators)
    guilty = [names[len(names) // 3], names[-len(names) // 5]]
    rows = {}
    with TemporaryDirectory(prefix="bench-bisect-") as name:
        folder = Path(name)
        (folder / "program.py").write_text(PROGRAM)
        (folder / "names").write_text(json.dumps([names, guilty]))
        for label, flags in (
            ("a process a run", ("--no-fork",)),
            ("forks", ()),
            (f"forks, {options.jobs} at a time", ("--jobs", str(options.jobs))),
        ):
            took, verdict, runs = search(folder, len(names), *flags)
            rows[label] = {"seconds": took, "runs": runs}
            ratio = took / rows["a process a run"]["seconds"]
            print(f"{label:24} {took:7.1f} s {runs:3} runs  x {ratio:.2f}  {verdict}", flush=True)
    if options.json:
        options.json.write_text(json.dumps({"operators": len(names), "rows": rows}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
