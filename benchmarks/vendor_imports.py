"""Time that installed vendors add to `import torch` on a machine without an accelerator.

python benchmarks/vendor_imports.py [--json FILE] [--repeats N]

Processes alternate between dl-vendor-cpu alone and all vendors of the environment, with and without
DL_VENDORS=cpu, which selects the reference. Only the autoload call is measured, in which vendors
are found and asked, because the rest of the import varies by more than they add. The difference of
the medians may be 40 ms, and the call prints nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from importlib.metadata import distributions
from pathlib import Path
from sysconfig import get_path

LIMIT_MS = 40.0
ALONE = "dl-vendor-cpu"
KIT = "dl-vendor-kit"
"""Not a vendor, but what vendors are built with."""

CHILD = """
import sys, time, warnings
warnings.formatwarning = lambda message, *_: f"{message}\\n"
sys.path[:0] = [sys.argv[1]]
import torch
wall, cpu = time.perf_counter(), time.process_time()
from dl_core._entry import autoload
autoload()
print((time.perf_counter() - wall) * 1e3, (time.process_time() - cpu) * 1e3)
"""


def hidden_vendors(packages: Path) -> set[str]:
    """Return the files of all vendors but dl-vendor-cpu in a folder of installed packages."""
    found: set[str] = set()
    for one in distributions(path=[str(packages)]):
        name = one.metadata["Name"]
        is_vendor = name.startswith("dl-vendor-") and name != KIT
        if is_vendor and name != ALONE:
            found |= {file.parts[0] for file in one.files or () if file.parts[0] != ".."}
    return found


def link_packages(folder: Path, packages: Path, hidden: set[str]) -> None:
    """Link all packages but those that are hidden into an empty folder."""
    folder.mkdir()
    for entry in packages.iterdir():
        if entry.name not in hidden and entry.suffix != ".pth":
            (folder / entry.name).symlink_to(entry)


def measure(folder: Path, variables: Mapping[str, str]) -> tuple[float, float, str]:
    """Return the wall time and CPU time of the call in milliseconds, and what it printed."""
    inherited = {name: text for name, text in os.environ.items() if not name.startswith("DL_")}
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", CHILD, str(folder)],
        env={**inherited, **variables, "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"},
        capture_output=True,
        text=True,
        check=True,
    )
    *printed, times = done.stdout.splitlines()
    wall, cpu = map(float, times.split())
    said = [*printed, *(line for line in done.stderr.splitlines() if line.strip())]
    return wall, cpu, "\n".join(said)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", type=Path, default=Path("build/bench/vendor_imports.json"))
    parser.add_argument("--repeats", type=int, default=15, help="processes of each kind")
    arguments = parser.parse_args()
    packages = Path(get_path("platlib"))
    hidden = hidden_vendors(packages)
    with tempfile.TemporaryDirectory() as temporary:
        alone, every = Path(temporary, "alone"), Path(temporary, "all")
        link_packages(alone, packages, hidden)
        link_packages(every, packages, set())
        kinds: dict[str, tuple[Path, dict[str, str]]] = {
            "cpu alone": (alone, {}),
            "all vendors": (every, {}),
            "all vendors, DL_VENDORS=cpu": (every, {"DL_VENDORS": "cpu"}),
        }
        for folder, variables in kinds.values():
            measure(folder, variables)  # bytecode and checks of libraries are cached from here on
        found = [
            {kind: measure(*where) for kind, where in kinds.items()}
            for _ in range(arguments.repeats)
        ]
    times = {
        kind: {
            clock: statistics.median(each[kind][index] for each in found)
            for index, clock in enumerate(("wall", "CPU"))
        }
        for kind in kinds
    }
    vendors = sorted(name for name in hidden if not name.endswith(".dist-info"))
    print(f"vendors besides {ALONE}: {', '.join(vendors) or 'none'}")
    base, failed = times["cpu alone"], not vendors
    for kind, measured in times.items():
        shown = (f"{name} {ms:.1f} ms ({ms - base[name]:+.1f})" for name, ms in measured.items())
        noise = sorted({each[kind][2] for each in found} - {""})
        slow = measured["CPU"] - base["CPU"] > LIMIT_MS
        failed |= slow or bool(noise)
        remarks = [*(["too slow"] if slow else []), *(f"prints: {line}" for line in noise)]
        print(f"{kind}: {', '.join([*shown, *remarks])}")
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(json.dumps({"milliseconds": times, "vendors": vendors}, indent=1))
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
