"""Compile kernels of dl-kernels to machine code and compare them with torch's.

    python -m tools.gpu_code [--update] [--only TEXT] [--keep FOLDER]

``tools/nox -s gpu-code`` calls it with nvcc and cuobjdump in PATH.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tools.gpu_code.cubin import MissingToolError, kernels, readable, run
from tools.gpu_code.figures import Figures, best, figures
from tools.gpu_code.ours import assemble, entries, nvcc, ptx, units
from tools.gpu_code.pairs import Pair, pairs, short
from tools.gpu_code.report import Comparison, changes, geometric_mean, markdown, problems

DOCS = Path(__file__).parents[2] / "packages/kernels/docs"
TORCH = DOCS / "gpu-code-torch.json"
REPORT = DOCS / "gpu-code.json"
DOCUMENT = DOCS / "gpu-code.md"


def measure_family(
    source: Path, wanted: Sequence[Pair]
) -> tuple[dict[str, Figures], dict[str, int]]:
    """Return the best figures of each pair of a family, by key, and the kernels that spill.

    Only kernels that match a pair are compiled.
    """
    code = ptx(source)
    names = {name: short(text) for name, text in readable(entries(code)).items()}
    matching = {
        pair.key: [name for name, text in names.items() if re.search(pair.ours[1], text)]
        for pair in wanted
    }
    every = sorted({name for of_pair in matching.values() for name in of_pair})
    if not every:
        return {}, {}
    made, spilling = assemble(code, every)
    compiled = {kernel.name: kernel for kernel in kernels(made, every)}
    found = {}
    for pair in wanted:
        each = [figures(compiled[x], names[x], pair.unit) for x in matching[pair.key]]
        chosen = best((x for x in each if x is not None), pair.unit)
        if chosen is not None:
            found[pair.key] = chosen
    return found, {names[name]: count for name, count in spilling.items()}


def measure(wanted: Sequence[Pair], folder: Path) -> tuple[dict[str, Figures], dict[str, int]]:
    """Measure all families that the pairs name."""
    found: dict[str, Figures] = {}
    spilling: dict[str, int] = {}
    for family, source in units(folder, {pair.ours[0] for pair in wanted}).items():
        of_family = [pair for pair in wanted if pair.ours[0] == family]
        measured, spills = measure_family(source, of_family)
        found.update(measured)
        spilling.update(spills)
        sys.stdout.write(f"{family}: {len(measured)} of {len(of_family)} pairs\n")
        sys.stdout.flush()
    return found, spilling


def read(path: Path) -> Any:
    return json.loads(path.read_text("utf-8")) if path.exists() else {}


def compared(
    wanted: Sequence[Pair], found: Mapping[str, Figures], torch: Any, report: Any
) -> list[Comparison]:
    first = report.get("first", {})
    return [
        Comparison(
            pair,
            found[pair.key].json() if pair.key in found else None,
            torch["kernels"].get(pair.key),
            first.get(pair.key, report.get("kernels", {}).get(pair.key)),
        )
        for pair in wanted
    ]


def write(rows: Sequence[Comparison], torch: Any, report: Any, spilling: int) -> None:
    """Write the report of all pairs; figures of kernels that were not measured are kept."""
    said = re.search(r"V(\d+\.\d+\.\d+)", run([*nvcc(), "--version"]))
    compiler = said.group(1) if said else "unknown"
    now = {x.pair.key: x.ours for x in rows if x.ours is not None}
    known = {**report.get("kernels", {}), **now}
    keys = [pair.key for pair in pairs() if pair.key in known]
    first = {key: report.get("first", {}).get(key, known[key]) for key in keys}
    data = {"nvcc": compiler, "first": first, "kernels": {key: known[key] for key in keys}}
    REPORT.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    all_rows = [
        Comparison(x, known.get(x.key), torch["kernels"].get(x.key), first.get(x.key))
        for x in pairs()
    ]
    text = markdown(all_rows, {**torch["versions"], "nvcc": compiler}, spilling)
    DOCUMENT.write_text(text, encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--update", action="store_true", help="write the report")
    parser.add_argument(
        "--only",
        default="",
        help="regular expression for operator, dtype or class of the pairs (default: all)",
    )
    parser.add_argument("--keep", type=Path, help="folder in which the code is kept for inspection")
    options = parser.parse_args()
    wanted = [x for x in pairs() if re.search(options.only, f"{x.key} {x.kind} {x.ours[0]}")]
    if not wanted:
        parser.error(f"no pair matches {options.only!r}")
    torch, report = read(TORCH), read(REPORT)
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        try:
            found, spilling = measure(wanted, folder)
        except MissingToolError as error:
            sys.stderr.write(f"{error}\n")
            return 2
    rows = compared(wanted, found, torch, report)
    for row in rows:
        sys.stdout.write(line(row) + "\n")
    ratios = [row.ratio for row in rows if row.ratio is not None]
    if ratios:
        sys.stdout.write(f"geometric mean of {len(ratios)}: {geometric_mean(ratios):.3f}\n")
    for change in changes(rows, report.get("kernels", {})):
        sys.stdout.write(f"{change}\n")
    if options.update:
        write(rows, torch, report, len(spilling))
    failed = problems(rows, spilling)
    for problem in failed:
        sys.stderr.write(f"{problem}\n")
    return 1 if failed else 0


def line(row: Comparison) -> str:
    """Format the progress line of a pair."""
    ours, torch = row.ours or {}, row.torch or {}
    ratio = "-" if row.ratio is None else f"{row.ratio:.2f}"
    return (
        f"{row.pair.key:36} {ours.get('per_element', '-'):>8} of {torch.get('per_element', '-'):>8}"
        f" = {ratio:>5}  access {ours.get('load', '-')}/{ours.get('store', '-')}"
        f" of {torch.get('load', '-')}/{torch.get('store', '-')}"
        f"  registers {ours.get('registers', '-')} of {torch.get('registers', '-')}"
        f"  {str(ours.get('kernel', ''))[:60]}"
    )


if __name__ == "__main__":
    sys.exit(main())
