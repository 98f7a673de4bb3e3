"""Cost per call of operators that another wheel adds to a vendor's devices.

python benchmarks/added_operators.py [--json FILE] [--repeats N]

Builds and installs the example of packages/vendor-kit/docs/added-operators.md into a temporary
folder (needs g++). Processes with and without it (DL_OPERATORS=off) alternate; each measures the
processor time of calls with 4 elements: an addition that the example serves, one that it declines,
and a product, to which nothing is added. The declined call shows the overhead, because the vendor's
own operator then computes as without the wheel.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

EXAMPLE = Path(__file__).parents[1] / "examples" / "added-operators"
CALLS = ("served", "declined", "nothing added")

CHILD = """
import json, time, torch
x, wide = torch.ones(4, device="dl"), torch.ones(4, device="dl", dtype=torch.float64)
calls = {"served": lambda: x + x, "declined": lambda: wide + wide, "nothing added": lambda: x * x}
spent = {name: [] for name in calls}
for _ in range(15):
    for name, call in calls.items():
        start = time.process_time_ns()
        for _ in range(2000):
            call()
        spent[name].append((time.process_time_ns() - start) / 2000)
added = torch.dl.added_operators().get("diopiAdd", [])
print(json.dumps([{name: sorted(each)[7] for name, each in spent.items()},
                  [(one.calls, one.declined) for one in added]]))
"""


def install(folder: Path) -> None:
    """Build the example and install it into a folder."""
    # Builds write into the source's folder.
    source = shutil.copytree(EXAMPLE, folder / "source")
    pip = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check")
    build = ("wheel", "--no-deps", "--no-build-isolation", "--no-index", "-w", folder, source)
    subprocess.run([*pip, *map(str, build)], check=True)
    (wheel,) = folder.glob("*.whl")
    target = ("install", "--no-deps", "--no-index", "--target", folder / "target", wheel)
    subprocess.run([*pip, *map(str, target)], check=True)


def measure(target: Path, operators: str) -> dict[str, float]:
    """Return nanoseconds per call, in a process with added operators ``on`` or ``off``."""
    path = os.pathsep.join(filter(None, [str(target), os.environ.get("PYTHONPATH")]))
    variables = {"PYTHONPATH": path, "DL_VENDORS": "cpu", "DL_OPERATORS": operators}
    done = subprocess.run(
        [sys.executable, "-c", CHILD],
        env={**os.environ, **variables},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    found, added = json.loads(done.stdout)
    expected = [[30_000, 30_000]] if operators == "on" else []
    if added != expected:
        raise SystemExit(f"added_operators: the example served and declined {added}")
    return {str(name): float(nanoseconds) for name, nanoseconds in found.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", type=Path, default=Path("build/bench/added_operators.json"))
    parser.add_argument("--repeats", type=int, default=7, help="processes of each kind")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        install(Path(folder))
        target = Path(folder) / "target"
        rounds = [
            {way: measure(target, way) for way in ("off", "on")} for _ in range(arguments.repeats)
        ]
    found = {}
    for call in CALLS:
        off, on = (statistics.median(each[way][call] for each in rounds) for way in ("off", "on"))
        found[call] = {"without": off, "with": on}
        print(f"{call}: {off:.0f} ns without the wheel, {on:.0f} ns with it ({on - off:+.0f})")
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(json.dumps({"nanoseconds": found}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
