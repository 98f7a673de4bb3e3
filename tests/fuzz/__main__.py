"""``python -m fuzz [KIND ...] [--seed S] [--cases N] [--case N] [--json FILE]``.

Runs every kind, prints the outcomes of its cases and writes JSON. The exit code is 1 if one failed.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from .child import kind_of
from .runner import Result, Runner

KINDS = (
    "vendors",
    "trials",
    "torch_host",
    "elf_files",
    "graphs",
    "recorded_graphs",
    "bundles",
    "variables",
    "plugins",
    "descriptions",
)


def main() -> int:
    parser = argparse.ArgumentParser(prog="fuzz", description=(__doc__ or "").splitlines()[2])
    parser.add_argument(
        "kinds", nargs="*", default=KINDS, help=f"kinds of cases: {', '.join(KINDS)} (default: all)"
    )
    parser.add_argument("--seed", default="1")
    parser.add_argument(
        "--cases", type=int, help="number of cases of each kind (default: the kind's own)"
    )
    parser.add_argument("--case", type=int, help="number of a single case to run")
    parser.add_argument("--json", type=Path, help="file for the results")
    arguments = parser.parse_args()
    results = []
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        runner = Runner(Path(folder), arguments.seed)
        for name in arguments.kinds:
            kind = kind_of(name)
            cases = None if arguments.cases is None else range(arguments.cases)
            if arguments.case is not None:
                cases = range(arguments.case, arguments.case + 1)
            results.append(runner.run(kind, cases))
            show(results[-1])
    total = sum(result.cases for result in results)
    failed = sum(len(result.failures) for result in results)
    seconds = sum(result.seconds for result in results)
    sys.stdout.write(f"{total} cases, {failed} failed, {seconds:.0f} s, seed {arguments.seed}\n")
    if arguments.json:
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        found = {"seed": arguments.seed, "kinds": [result.as_json() for result in results]}
        arguments.json.write_text(json.dumps(found, indent=1) + "\n")
    return 1 if failed else 0


def show(result: Result) -> None:
    ends = ", ".join(f"{count} {end}" for end, count in result.ends.most_common())
    out = sys.stdout
    out.write(f"{result.kind}: {result.cases} cases in {result.seconds:.0f} s: {ends}\n")
    for failure in result.failures[:20]:
        out.write(f"  case {failure.case} {failure.what}\n  {failure.said.strip()}\n")
        out.write(f"  again: {failure.repeat}\n")
    out.flush()


if __name__ == "__main__":
    sys.exit(main())
