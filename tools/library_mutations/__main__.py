"""Command line: ``python -m tools.library_mutations FOLDER``."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from dl_vendor_kit.library.loading import load

from .mutations import draw
from .stages import Conformance, Verdict, generator_stage, judge, simulated_driver


def _print(verdict: Verdict) -> None:
    sys.stdout.write(f"{verdict.stage or 'SURVIVED'}: {verdict.mutation.name}\n")
    sys.stdout.flush()


def main(argv: list[str] | None = None) -> int:
    """Draw mutations, judge each, and print a summary; return 1 if too many survive."""
    parser = argparse.ArgumentParser(prog="python -m tools.library_mutations", description=__doc__)
    add = parser.add_argument
    add("folder", type=Path, help="folder that contains library.yaml")
    add("--count", type=int, default=250, help="number of mutations (default: 250)")
    add("--seed", type=int, default=0, help="seed of the draw (default: 0)")
    add("--operators", nargs="+", help="names of operators (default: all)")
    add("--csrc", type=Path, help="folder of the vendor's sources: also run the conformance suite")
    add("--define", action="append", default=[], help="macro for the vendor's sources")
    add("--vendor", help="installed vendor whose simulated driver the suite uses")
    add("--sample", default="1/0", help="share of the conformance cases (default: 1/0, all)")
    add("--jobs", type=int, default=1, help="mutations that are judged at a time (default: 1)")
    add("--json", type=Path, help="path of a report")
    add("--survivors", type=Path, help="report of the same draw: judge only what survived there")
    add("--at-least", type=float, default=0.0, help="share that must be rejected (default: 0)")
    arguments = parser.parse_args(argv)
    data = load(arguments.folder)
    if data.findings:
        sys.stderr.write("\n".join(map(str, data.findings)) + "\n")
        return 2
    named = set(arguments.operators or ())
    entries = [x for x in data.entries if not named or x.name in named]
    drawn = draw(data.library, entries, arguments.count, arguments.seed)
    if arguments.survivors is not None:
        rows = json.loads(arguments.survivors.read_text(encoding="utf-8"))
        survived = {row["mutation"] for row in rows if not row["stage"]}
        drawn = [mutation for mutation in drawn if mutation.name in survived]
    generator = generator_stage(data.library)
    verdicts = [judge(mutation, [generator]) for mutation in drawn]
    if arguments.csrc is not None:
        left = [verdict.mutation for verdict in verdicts if not verdict.stage]
        with tempfile.TemporaryDirectory(prefix="mutations-") as scratch:
            conformance = Conformance(
                data.library,
                arguments.csrc,
                arguments.define,
                simulated_driver(arguments.vendor) if arguments.vendor else {},
                arguments.sample,
                Path(scratch),
            )
            conformance.prepare(mutation.entry.name for mutation in left)
            with ThreadPoolExecutor(arguments.jobs) as pool:
                judged = pool.map(lambda mutation: judge(mutation, [conformance]), left)
                verdicts = [verdict for verdict in verdicts if verdict.stage]
                for verdict in judged:
                    verdicts.append(verdict)
                    _print(verdict)
    else:
        for verdict in verdicts:
            _print(verdict)
    counts = Counter(verdict.stage or "survived" for verdict in verdicts)
    rejected = len(verdicts) - counts["survived"]
    share = rejected / max(len(verdicts), 1)
    summary = ", ".join(
        f"{count} by {name}" for name, count in counts.items() if name != "survived"
    )
    sys.stdout.write(
        f"{len(verdicts)} mutations (seed {arguments.seed}): {rejected} rejected "
        f"({share:.1%}): {summary}; {counts['survived']} survived\n"
    )
    if arguments.json is not None:
        rows = [
            {"mutation": v.mutation.name, "stage": v.stage, "reason": v.reason} for v in verdicts
        ]
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return 0 if share >= arguments.at_least else 1


if __name__ == "__main__":
    raise SystemExit(main())
