"""Keep the measurements of a benchmark, with the machine, the date and the command.

    python -m tools.record_benchmark NAME [ARGUMENT ...]

reads build/bench/NAME.json, which ``tools/nox -s bench-NAME -- ARGUMENT ...`` has written on this
machine, and writes benchmarks/results/NAME.json, from which the site makes the benchmark's page.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tools.projects import ROOT

RESULTS = ROOT / "benchmarks" / "results"
BUSY = 1.0
"""Load per processor, averaged over five minutes, above which the machine is called loaded."""


def session_of(name: str) -> str:
    """Return the name of the session that runs benchmarks/NAME.py."""
    return f"bench-{name.replace('_', '-')}"


def processor(cpuinfo: str) -> str:
    """Return the name of the processor from the text of ``/proc/cpuinfo``."""
    for line in cpuinfo.splitlines():
        key, _, value = line.partition(":")
        if key.strip() in ("model name", "CPU part"):
            return value.strip()
    return "unknown processor"


def this_processor() -> str:
    """Return the name of this machine's processor."""
    return processor(Path("/proc/cpuinfo").read_text(encoding="utf-8"))


def machine(load: float, cores: int) -> str:
    """Return the machine in words.

    :param load: average number of running processes.
    """
    state = f"loaded by other processes (load {load:.0f})" if load > BUSY * cores else "quiet"
    return f"{this_processor()}, {cores} cores, {state}"


def recorded(name: str, arguments: list[str], measured: Any) -> dict[str, Any]:
    """Return what is kept of a run on this machine that has just ended."""
    command = f"tools/nox -s {session_of(name)}"
    if arguments:
        command += f" -- {shlex.join(arguments)}"
    describe = ("git", "rev-parse", "--short=12", "HEAD")
    return {
        "command": command,
        "machine": machine(os.getloadavg()[1], len(os.sched_getaffinity(0))),
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "commit": subprocess.check_output(describe, cwd=ROOT, text=True).strip(),
        "measured": measured,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("name", help="name of the script in benchmarks/, without .py")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="arguments that it was given")
    options = parser.parse_args()
    source = ROOT / "build" / "bench" / f"{options.name}.json"
    if not source.is_file():
        print(f"{source.relative_to(ROOT)} does not exist: run the benchmark", file=sys.stderr)
        return 1
    kept = recorded(options.name, options.arguments, json.loads(source.read_text("utf-8")))
    RESULTS.mkdir(exist_ok=True)
    target = RESULTS / f"{options.name}.json"
    target.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    print(f"written: {target.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
