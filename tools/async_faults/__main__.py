"""Session that tries every fault; see the package."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

from dl_conformance.target import Target, TargetError, of_vendor
from dl_optools.option_types import count
from tools.async_faults.trials import Fault, Trial, build, read_faults, try_fault, try_target

RIGHT = (("cpu", False), ("async", False), ("cuda", True))
"""Vendors for which no check may fail, and whether they run on a simulated driver."""

SHOWN = 300
"""Maximum length of the detail of a failure in the table, in characters."""


def right_targets() -> dict[str, Target]:
    """Return the installed vendors of RIGHT by description."""
    found = {}
    for name, simulate in RIGHT:
        try:
            target, _ = of_vendor(name, simulate)
        except TargetError as error:
            sys.stdout.write(f"not tried: {error}\n")
            continue
        found[f"{name}, simulated" if simulate else name] = target
    return found


def row(name: str, trial: Trial) -> str:
    """Return the line of a trial in the table."""
    if trial.verdict == "named":
        told = trial.sentence
    else:
        failed = trial.misled or trial.failed
        told = "; ".join(f"{x.name}: {x.cause}: {x.detail[-SHOWN:]}" for x in failed)
    skipped = sum(x.status == "skipped" for x in trial.outcomes)
    ran = f"{len(trial.outcomes)} checks, {skipped} skipped" if trial.fault is None else told
    text = ran if trial.verdict == "right" else told
    return f"{trial.verdict:12} {name:48} {text} ({trial.seconds:.0f} s)\n"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.async_faults", description=__doc__)
    parser.add_argument("names", nargs="*", help="faults to try (default: all)")
    parser.add_argument("--jobs", type=count, default=2, help="number of workers (default: 2)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="file for all outcomes")
    parser.add_argument("--list", action="store_true", help="print the names of the faults")
    parser.add_argument("--no-clean", action="store_true", help="skip vendors without faults")
    options = parser.parse_args(arguments)
    faults = read_faults()
    if unknown := set(options.names).difference(each.fault for each in faults):
        parser.error(f"unknown fault {min(unknown)}; --list prints all")
    faults = [each for each in faults if not options.names or each.fault in options.names]
    if options.list:
        sys.stdout.write("".join(f"{each.fault}\n" for each in faults))
        return 0
    try:
        base = Path(of_vendor("async")[0].library)
    except TargetError as error:
        parser.error(f"{error}; the faults are seeded into the asynchronous test vendor")
    done: list[Trial] = []
    clean: dict[str, Trial] = {}
    with (
        TemporaryDirectory(prefix="async-faults-") as folder,
        ThreadPoolExecutor(options.jobs) as pool,
    ):
        library = build(Path(folder))

        def work(fault: Fault) -> Trial:
            return try_fault(library, base, fault)

        if not options.no_clean:
            clean["the library that seeds faults"] = try_fault(library, base, None)
            for name, target in right_targets().items():
                clean[name] = try_target(target)
        for name, trial in clean.items():
            sys.stdout.write(row(name, trial))
        for fault, trial in zip(faults, pool.map(work, faults), strict=True):
            done.append(trial)
            sys.stdout.write(row(fault.fault, trial))
            sys.stdout.flush()
    counts = Counter(x.verdict for x in done)
    alarms = sum(x.verdict == "false alarm" for x in clean.values())
    told = ", ".join(f"{number} {verdict}" for verdict, number in counts.items())
    sys.stdout.write(f"{len(done)} faults: {told or 'none tried'}; {alarms} false alarms\n")
    if options.json is not None:
        document = {
            "faults": [x.as_json() for x in done],
            "right": {name: x.as_json() for name, x in clean.items()},
        }
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return 0 if counts["named"] == len(done) and not alarms else 1


if __name__ == "__main__":
    sys.exit(main())
