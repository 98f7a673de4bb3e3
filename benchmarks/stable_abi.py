"""Cost per call of operators that are registered by torch's stable ABI.

python benchmarks/stable_abi.py [--json FILE] [--rounds N]

Builds one family of unary operators twice (needs g++): with torch's C++ interface, and with its
stable ABI, both with the same computation. Each library replaces the operators of dl-core in
processes of their own, which alternate with processes that use dl-core's operators; each measures
the processor time of calls with 4 elements, without gradients, on one thread. Needs a vendor whose
memory the host can access, such as cpu.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
# The oldest supported release: its library runs with later ones too.
TARGET = "-DTORCH_TARGET_VERSION=0x020d000000000000"
# Source and compiler flags; with a target version, torch refuses headers that are not stable.
VARIANTS = {
    "dl-core": None,
    "C++ interface": ("_stable_abi_plain.cpp",),
    "stable ABI": ("_stable_abi_stable.cpp", TARGET),
    "stable ABI, output by an operator": (
        "_stable_abi_stable.cpp",
        TARGET,
        "-DDL_OUTPUT_BY_OPERATOR",
    ),
}
FORMS = ("exp(x)", "exp(x, out=y)")

CHILD = """
import json, sys, time, torch
torch.set_num_threads(1)
torch.set_grad_enabled(False)
names = ("exp", "expm1", "log", "log1p", "log2", "log10", "sqrt", "tanh")
if sys.argv[1:]:
    torch.ops.load_library(sys.argv[1])
host = torch.tensor([0.25, 0.5, 1.0, 2.0])
x = host.to("dl")
for name in names:
    function = getattr(torch, name)
    out = torch.empty_like(x)
    assert function(x, out=out) is out
    for got in (function(x), out):
        torch.testing.assert_close(got.cpu(), function(host))
y = torch.empty_like(x)
calls = {"exp(x)": lambda: torch.exp(x), "exp(x, out=y)": lambda: torch.exp(x, out=y)}
spent = {name: [] for name in calls}
for _ in range(15):
    for name, call in calls.items():
        start = time.thread_time_ns()
        for _ in range(2000):
            call()
        spent[name].append((time.thread_time_ns() - start) / 2000)
print(json.dumps({name: sorted(each)[7] for name, each in spent.items()}))
"""


def build(folder: Path, source: str, *flags: str) -> Path:
    """Compile a library with the headers of the installed torch; return its path."""
    import torch
    from torch.utils.cpp_extension import include_paths, library_paths

    library = folder / f"{Path(source).stem}{len(flags)}.so"
    command = [os.environ.get("CXX", "g++"), "-std=c++20", "-O2", "-shared", "-fPIC"]
    command += ["-fvisibility=hidden", *flags]
    command += [f"-D_GLIBCXX_USE_CXX11_ABI={int(torch.compiled_with_cxx11_abi())}"]
    command += [part for path in include_paths() for part in ("-isystem", path)]
    command += [str(HERE / source), "-o", str(library), "-ltorch_cpu", "-lc10"]
    command += [f"-L{path}" for path in library_paths()]
    subprocess.run(command, check=True)
    return library


def measure(library: Path | None) -> dict[str, float]:
    """Check the operators of a library, or of dl-core, in a process; return nanoseconds by form."""
    command = [sys.executable, "-c", CHILD, *([] if library is None else [str(library)])]
    # torch warns that the operators of dl-core are replaced.
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", type=Path, default=Path("build/bench/stable_abi.json"))
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    import torch

    with tempfile.TemporaryDirectory() as text:
        libraries = {
            name: None if parts is None else build(Path(text), *parts)
            for name, parts in VARIANTS.items()
        }
        rounds = [
            {name: measure(library) for name, library in libraries.items()}
            for _ in range(arguments.rounds)
        ]
    rows = {
        name: {form: statistics.median(each[name][form] for each in rounds) for form in FORMS}
        for name in VARIANTS
    }
    print(f"torch {torch.__version__}, ns per call, medians of {arguments.rounds} processes")
    print(f"{'':34}{FORMS[0]:>10}{FORMS[1]:>16}")
    for name, times in rows.items():
        print(f"{name:34}{times[FORMS[0]]:10.0f}{times[FORMS[1]]:16.0f}")
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    report = {"torch": torch.__version__, "rounds": arguments.rounds, "ns": rows}
    arguments.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
