"""Line coverage of this vendor and its kernels by the conformance suite.

Compiles the library with gcov's counters and runs the suite on it; each instance of a template
counts for its line. Prints the least covered files and the total, writes everything as JSON, and
fails below --least. Needs g++ and its gcov; unknown options are passed to the suite.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import sysconfig
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from instrumented import ROOT, VENDOR, build

from dl_kernels import include_dir

OBJECTS = ROOT / "build/coverage"
# Not optimized: the compiler neither merges lines nor drops them.
FLAGS = ("--coverage", "-O0", "-fprofile-update=atomic")
SHOWN = 25
KERNELS = OBJECTS / "kernels"
"""Cache of the kernels that the suite compiles."""
PRODUCTS = ("Mm", "Bmm", "Matmul", "Addmm", "Baddbmm*", "Linear*", "Conv*")
"""Operators that libraries compute."""

Lines = dict[int, int]


def lines_of(counters: Path) -> dict[str, Lines]:
    """Return how often each line of each source ran, by the counters of one unit."""
    compiler = os.environ.get("CXX", "g++").split()[-1]
    gcov = compiler.replace("g++", "gcov") if "g++" in compiler else "gcov"
    command = [gcov, "--json-format", "--stdout", str(counters)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=OBJECTS)
    found: dict[str, Lines] = {}
    for text in done.stdout.splitlines():
        for file in json.loads(text)["files"]:
            lines = found.setdefault(file["file"], defaultdict(int))
            for line in file["lines"]:
                lines[line["line_number"]] += line["count"]
    return found


def ours() -> dict[Path, str]:
    """Return the folders whose sources count, with their names."""
    return {Path(include_dir()).resolve(): "dl-kernels", (VENDOR / "csrc").resolve(): "vendor-cpu"}


def libraries() -> dict[str, str]:
    """Return the libraries that this vendor finds where it is installed, but not as a copy
    elsewhere."""
    packages = Path(sysconfig.get_path("purelib"))
    places = {
        "DL_CPU_ONEDNN": Path(sys.prefix) / "lib/libdnnl.so.3",
        "DL_CPU_OPENBLAS": packages / "scipy_openblas32/lib/libscipy_openblas.so",
    }
    return {name: str(path) for name, path in places.items() if path.exists()}


def collect() -> dict[str, Lines]:
    """Return the counts of all units together, by source."""
    total: dict[str, Lines] = {}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for found in pool.map(lines_of, sorted(OBJECTS.rglob("*.gcda"))):
            for name, lines in found.items():
                path = (OBJECTS / name).resolve()
                for folder, called in ours().items():
                    if path.is_relative_to(folder):
                        source = f"{called}/{path.relative_to(folder)}"
                        kept = total.setdefault(source, defaultdict(int))
                        for line, count in lines.items():
                            kept[line] += count
    return total


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--least", type=float, default=90.0, help="percent (90)")
    options, rest = parser.parse_known_args()
    library = build(OBJECTS, FLAGS, ["--coverage"])
    for counters in OBJECTS.rglob("*.gcda"):
        counters.unlink()
    shutil.rmtree(KERNELS, ignore_errors=True)
    suite = [sys.executable, "-m", "dl_conformance", "--library", str(library), *rest]
    own = [part for name in PRODUCTS for part in ("--fname", name)]
    # If libraries compute the products, the vendor's own kernels are covered by a second run.
    for chosen, given in (([], libraries()), (own, {})):
        off = {"DL_CPU_ONEDNN": "off", "DL_CPU_OPENBLAS": "off"}
        environment = {**os.environ, **off, **given, "DL_CPU_KERNEL_CACHE": str(KERNELS)}
        if code := subprocess.run([*suite, *chosen], check=False, env=environment).returncode:
            return code
    sources = collect()
    rows = {
        name: (sum(count > 0 for count in lines.values()), len(lines))
        for name, lines in sorted(sources.items())
        if lines
    }
    missed = {
        name: sorted(line for line, count in lines.items() if not count)
        for name, lines in sources.items()
    }
    covered, lines = (sum(row[at] for row in rows.values()) for at in (0, 1))
    percent = 100 * covered / max(lines, 1)
    least = sorted(rows, key=lambda x: rows[x][0] - rows[x][1])[:SHOWN]
    for name in least:
        done, of = rows[name]
        print(f"{name:60} {of - done:5} of {of:5} lines did not run  {100 * done / of:5.1f} %")
    print(f"{covered} of {lines} lines ran: {percent:.2f} %")
    report = {"covered": covered, "lines": lines, "percent": percent, "missed": missed}
    (OBJECTS / "coverage.json").write_text(json.dumps(report, indent=1), encoding="utf-8")
    return int(percent < options.least)


if __name__ == "__main__":
    sys.exit(main())
