"""CPU time that the autoload call adds to `import torch`: median over fresh processes.

python benchmarks/autoload.py [--json FILE] [--repeats N]
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

CHILD = """
import time
import torch
start = time.process_time()
from dl_core._entry import autoload
autoload()
print((time.process_time() - start) * 1e3, torch.dl.device_count())
"""


def milliseconds() -> float:
    """Return the CPU time of importing the entry module and calling it, in a new process."""
    env = {**os.environ, "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    done = subprocess.run(
        [sys.executable, "-c", CHILD], env=env, capture_output=True, text=True, check=True
    )
    spent, devices = done.stdout.split()
    if int(devices) < 1:
        raise SystemExit("no dl device was found: install a vendor first")
    return float(spent)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", type=Path, default=Path("build/bench/autoload.json"))
    parser.add_argument("--repeats", type=int, default=15)
    arguments = parser.parse_args()
    milliseconds()  # bytecode and the check of the library are cached from here on
    values = [milliseconds() for _ in range(arguments.repeats)]
    median = statistics.median(values)
    print(f"autoload: median {median:.1f} ms CPU, {min(values):.1f} to {max(values):.1f}")
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    report = {"median_ms": median, "milliseconds": values}
    arguments.json.write_text(json.dumps(report, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
