"""Every fault meets its program under `dl diagnose`: see the package."""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from diopi_proto.descriptor import VendorDescriptor
from dl_optools.diagnosis.diagnosis import diagnose
from dl_optools.diagnosis.runs import Runner
from dl_vendor_cpu.plugin import dl_vendor
from tools.diagnose_faults.table import PROGRAMS, Fault, TableError, read, verdict
from tools.diagnose_faults.vendor import FaultyVendor

SHARE = 0.95
"""Of the faults have to be named."""
TIMEOUT = 300.0


def runner(vendor: FaultyVendor, command: list[str], fault: str, folder: Path) -> Runner:
    """Of a program of this package, on the vendor with a fault."""
    file, *arguments = command
    environ = {
        **os.environ,
        **vendor.variables(fault, folder / "struck"),
        "OMP_NUM_THREADS": "1",
        # Replaying a bundle shows nothing that the comparison has not shown.
        "AUTOCOMPARE_BUNDLES": "0",
    }
    return Runner([sys.executable, str(PROGRAMS / file), *arguments], environ, folder, TIMEOUT)


def try_one(
    vendor: FaultyVendor, fault: Fault, folder: Path, *, quick: bool = False
) -> tuple[str, str]:
    """The verdict on one fault, and what was named.

    :param quick: sampled calls only.
    """
    folder.mkdir(parents=True)
    program = runner(vendor, fault.command, fault.setting, folder)
    try:
        found = diagnose(program, lambda _: None, quick=quick)
    finally:
        program.close()
    if not (folder / "struck").exists():
        return "void", "the program never met the fault"
    named = [each.name for each in found.guilty]
    return verdict(fault, named), ", ".join(named) or found.unable or "nothing was found"


def clean(vendor: FaultyVendor, commands: list[list[str]], folder: Path) -> list[str]:
    """What is named where nothing is spoilt."""
    wrong = []
    for at, command in enumerate(commands):
        program = runner(vendor, command, "", folder / f"clean_{at}")
        try:
            found = diagnose(program, lambda _: None)
        finally:
            program.close()
        if found.guilty or found.unable or found.status:
            said = ", ".join(x.name for x in found.guilty) or found.unable or str(found.status)
            wrong.append(f"{' '.join(command)}: {said}")
        sys.stdout.write(f"clean   {' '.join(command)}\n")
        sys.stdout.flush()
    return wrong


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.diagnose_faults", description=__doc__)
    parser.add_argument("names", nargs="*", help="of faults; all by default")
    parser.add_argument("--sample", type=int, help="some of them, drawn by lot")
    parser.add_argument("--seed", default="0", help="of the sample")
    parser.add_argument("--part", default="1/1", help="2/3: the second of three parts")
    parser.add_argument("--list", action="store_true", help="print the names, and end")
    parser.add_argument("--no-clean", action="store_true", help="leave programs without faults out")
    options = parser.parse_args(arguments)
    try:
        faults = read()
    except TableError as error:
        parser.error(str(error))
    if options.names:
        faults = [each for each in faults if str(each) in options.names]
        if len({str(each) for each in faults}) < len(set(options.names)):
            parser.error("there is no such fault; --list names them")
    part, parts = map(int, options.part.split("/"))
    faults = faults[part - 1 :: parts]
    if options.sample is not None:
        faults = random.Random(options.seed).sample(faults, options.sample)
    if options.list:
        sys.stdout.write("".join(f"{each}\n" for each in faults))
        return 0
    descriptor: VendorDescriptor = dl_vendor()
    counts: Counter[str] = Counter()
    with TemporaryDirectory(prefix="diagnose-faults-") as name:
        folder = Path(name)
        functions = [each.function for each in read()]
        vendor = FaultyVendor(folder / "vendor", Path(descriptor.library), functions)
        programs = list(map(list, dict.fromkeys(tuple(each.command) for each in faults)))
        alarms = [] if options.no_clean else clean(vendor, programs, folder)
        for at, fault in enumerate(faults):
            begun = time.monotonic()
            said, named = try_one(vendor, fault, folder / f"fault_{at}")
            counts[said] += 1
            took = time.monotonic() - begun
            sys.stdout.write(f"{said:7} {fault!s:35} {fault.program:12} {named} ({took:.0f} s)\n")
            sys.stdout.flush()
    told = ", ".join(f"{count} {said}" for said, count in counts.items())
    sys.stdout.write(f"{len(faults)} faults: {told or 'none tried'}; {len(alarms)} false alarms\n")
    sys.stdout.write("".join(f"false alarm: {alarm}\n" for alarm in alarms))
    enough = counts["named"] >= SHARE * len(faults)
    return 0 if enough and not counts["false"] and not counts["void"] and not alarms else 1


if __name__ == "__main__":
    sys.exit(main())
