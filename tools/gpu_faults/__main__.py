"""Check that every fault is found, and that unchanged kernels have no findings; see the package."""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from dl_vendor_cpu.plugin import dl_vendor
from tools.gpu_faults import judge
from tools.gpu_faults.builds import HEADERS, ROOT, Build, BuildError, Emulated, Simulated
from tools.gpu_faults.table import HALVES, Mutation, TableError, read

BUILD = ROOT / "build" / "gpu-faults"


def chosen(options: argparse.Namespace) -> list[Mutation]:
    """Return the requested mutations.

    :raises TableError: a name does not exist.
    """
    mutations = read()
    if options.names:
        by_name = {each.name: each for each in mutations}
        if unknown := [name for name in options.names if name not in by_name]:
            raise TableError(f"the mutation {unknown[0]} does not exist; --list prints the names")
        mutations = [by_name[name] for name in options.names]
    mutations = [each for each in mutations if any(half in each.expected for half in options.half)]
    if options.sample:
        mutations = random.Random(options.seed).sample(mutations, options.sample)
    return mutations


def clean(build: Build, mutations: Sequence[Mutation], right: judge.Outcome) -> list[str]:
    """Return the errors of unchanged kernels in the cases of these mutations."""
    cases = sorted({each.case for each in mutations})
    outcome = judge.run(build.plain(), build.name, cases, [HEADERS])
    failures = [f"unchanged: {each}" for each in outcome.findings]
    for case in cases:
        said = outcome.errors.get(case) or judge.difference(
            outcome.results[case], right.results[case]
        )
        if said:
            failures.append(f"unchanged, {case}: {said}")
    return failures


def try_one(build: Build, one: Mutation, right: judge.Outcome) -> str | None:
    """Return why a fault was missed, None if it was found."""
    with TemporaryDirectory() as folder:
        overlay = Path(folder)
        one.apply(HEADERS, overlay)
        library = build.mutated(one.name, one.family, overlay)
        outcome = judge.run(library, build.name, [one.case], [overlay, HEADERS])
    return judge.verdict(outcome, one.case, right.results[one.case], one.expected[build.name])


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.gpu_faults", description=__doc__)
    parser.add_argument("names", nargs="*", help="names of mutations (default: all)")
    parser.add_argument(
        "--half", action="append", choices=HALVES, help="half to run (default: both)"
    )
    parser.add_argument("--sample", type=int, help="number of random mutations to run")
    parser.add_argument("--seed", default="0", help="seed of the sample (default: 0)")
    parser.add_argument("--list", action="store_true", help="print the names and exit")
    options = parser.parse_args(arguments)
    options.half = options.half or list(HALVES)
    try:
        mutations = chosen(options)
        if options.list:
            print("\n".join(each.name for each in mutations))
            return 0
        # Before any compilation: check that the table matches the sources.
        with TemporaryDirectory() as folder:
            for each in mutations:
                each.apply(HEADERS, Path(folder))
    except TableError as error:
        print(error, file=sys.stderr)
        return 2
    cases = sorted({each.case for each in mutations})
    right = judge.run(dl_vendor().library, "cpu", cases, [])
    if right.errors:
        print(
            f"the CPU vendor failed to compute the expected results: {right.errors}\n{right.said}"
        )
        return 2
    missed = 0
    for make in (Simulated, Emulated):
        if make.name not in options.half:
            continue
        of_half = [each for each in mutations if make.name in each.expected]
        build = make(BUILD, {each.family for each in read()})
        for failure in clean(build, of_half, right):
            print(f"{make.name}: {failure}", flush=True)
            missed += 1
        for each in of_half:
            begin = time.monotonic()
            try:
                said = try_one(build, each, right)
            except BuildError as error:
                said = str(error)
            missed += said is not None
            word = "found" if said is None else f"MISSED: {said}"
            wanted = each.expected[make.name].finding
            seconds = time.monotonic() - begin
            print(f"{make.name}: {each.name}: {wanted}: {word} ({seconds:.1f} s)", flush=True)
    print(f"{len(mutations)} faults, {missed} missed or reported in unchanged kernels")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
