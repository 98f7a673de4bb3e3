"""Session that tries every fault in its program under `dl diagnose`; see the package."""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

from diopi_proto.descriptor import VendorDescriptor
from dl_optools.option_types import count
from dl_vendor_cpu.plugin import dl_vendor
from tools.diagnose_faults.combinations import CONDITIONS, combinations
from tools.diagnose_faults.table import Fault, TableError, read
from tools.diagnose_faults.trials import Trial, Trials
from tools.diagnose_faults.vendor import FaultyVendor

SHARE = 0.95
"""Fraction of the faults that must be named."""


def all_faults() -> list[Fault]:
    """Return the hand-picked faults and all combinations.

    :raises TableError: a fault is invalid or a duplicate.
    """
    faults = [*read(), *combinations()]
    names = Counter((str(each), each.program) for each in faults)
    (name, most), *_ = names.most_common(1)
    if most > 1:
        raise TableError(f"{name[0]} in {name[1]} occurs twice")
    return faults


def try_program(trials: Trials, faults: Sequence[Fault], *, clean: bool) -> tuple[list[Trial], str]:
    """Try the faults of one program; the second result is the false alarm of a run without a
    fault."""
    done: list[Trial] = []
    alarm = ""
    try:
        if clean:
            found, _ = trials.diagnose()
            if found.guilty or found.unable or found.status:
                accused = ", ".join(x.name for x in found.guilty)
                alarm = f"{faults[0].program}: {accused or found.unable or found.status}"
        for fault in faults:
            trial = trials.run(fault)
            done.append(trial)
            told = ", ".join(trial.accused) or trial.text
            sys.stdout.write(
                f"{trial.outcome:9} {fault!s:42} {fault.program:13} {told} "
                f"({trial.seconds:.0f} s)\n"
            )
            sys.stdout.flush()
    finally:
        trials.close()
    return done, alarm


def table(trials: Sequence[Trial]) -> str:
    """Return named and all faults by action and condition, as lines of text."""
    actions = list(dict.fromkeys(x.fault.action for x in trials))
    conditions = [x for x in CONDITIONS if any(x == y.fault.condition for y in trials)]
    rows = [["", *conditions]]
    for action in actions:
        row = [action]
        for condition in conditions:
            cell = [x for x in trials if (x.fault.action, x.fault.condition) == (action, condition)]
            named = sum(x.outcome == "named" for x in cell)
            row.append(f"{named}/{len(cell)}" if cell else "")
        rows.append(row)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "".join(
        "  ".join(x.ljust(width) for x, width in zip(row, widths, strict=True)).rstrip() + "\n"
        for row in rows
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.diagnose_faults", description=__doc__)
    parser.add_argument("names", nargs="*", help="faults to try (default: all)")
    parser.add_argument("--sample", type=count, metavar="N", help="try N faults, chosen by --seed")
    parser.add_argument("--seed", default="0", help="seed of --sample (default: 0)")
    parser.add_argument(
        "--part",
        default="1/1",
        help="part of the faults to try; 2/3 is the second of three (default: 1/1)",
    )
    parser.add_argument(
        "--jobs", type=count, default=2, help="number of concurrent programs (default: 2)"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="file for all outcomes")
    parser.add_argument("--list", action="store_true", help="print the names of the faults")
    parser.add_argument("--no-clean", action="store_true", help="skip programs without faults")
    options = parser.parse_args(arguments)
    try:
        faults = everything = all_faults()
    except TableError as error:
        parser.error(str(error))
    if options.names:
        faults = [each for each in faults if str(each) in options.names]
        if len({str(each) for each in faults}) < len(set(options.names)):
            parser.error("a fault of that name does not exist; --list prints the names")
    part, parts = map(int, options.part.split("/"))
    faults = faults[part - 1 :: parts]
    if options.sample is not None:
        faults = random.Random(options.seed).sample(faults, options.sample)
    if options.list:
        sys.stdout.write("".join(f"{each}\n" for each in faults))
        return 0
    descriptor: VendorDescriptor = dl_vendor()
    done: list[Trial] = []
    alarms: list[str] = []
    with TemporaryDirectory(prefix="diagnose-faults-") as name:
        folder = Path(name)
        functions = [each.function for each in everything]
        vendor = FaultyVendor(folder / "vendor", Path(descriptor.library), functions)
        groups: dict[tuple[str, ...], list[Fault]] = {}
        for each in faults:
            groups.setdefault(tuple(each.command), []).append(each)

        def work(item: tuple[int, tuple[str, ...]]) -> tuple[list[Trial], str]:
            at, command = item
            trials = Trials(vendor, command, folder / f"program_{at}")
            return try_program(trials, groups[command], clean=not options.no_clean)

        # Programs with many faults first, to balance the load.
        order = sorted(groups, key=lambda command: -len(groups[command]))
        with ThreadPoolExecutor(options.jobs) as pool:
            for trials, alarm in pool.map(work, enumerate(order)):
                done += trials
                alarms += [alarm] if alarm else []
    return report(done, alarms, options.json)


def report(done: Sequence[Trial], alarms: Sequence[str], path: Path | None) -> int:
    """Print the table and the failures, and return the exit status."""
    counts = Counter(x.outcome for x in done)
    sys.stdout.write(table(done))
    told = ", ".join(f"{count} {outcome}" for outcome, count in counts.items())
    sys.stdout.write(f"{len(done)} faults: {told or 'none tried'}; {len(alarms)} false alarms\n")
    for each in done:
        if each.outcome != "named":
            sys.stdout.write(f"{each.outcome}: {each.fault} in {each.fault.program}: {each.text}\n")
    sys.stdout.write("".join(f"false alarm: {alarm}\n" for alarm in alarms))
    if path is not None:
        document = {"faults": [x.as_json() for x in done], "false_alarms": list(alarms)}
        path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    wrong = counts["false"] + counts["void"] + counts["missed"] + len(alarms)
    return 0 if counts["named"] >= SHARE * len(done) and not wrong else 1


if __name__ == "__main__":
    sys.exit(main())
