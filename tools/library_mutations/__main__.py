"""Command line: ``python -m tools.library_mutations FOLDER``."""

from __future__ import annotations

import argparse
import hashlib
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from dl_vendor_kit.library.loading import load
from dl_vendor_kit.library.model import Data
from tools.simulated_wheels import FAKE_SOURCES, ROOT, digest

from . import equivalent
from .builds import Builds
from .mutations import Mutation, draw, mutations
from .report import Report, ReportError
from .stages import Conformance, Stage, Verdict, generator_stage, judge, simulated_driver


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tools.library_mutations", description=__doc__)
    add = parser.add_argument
    add("folder", type=Path, help="folder that contains library.yaml")
    add("--count", type=int, default=250, help="number of mutations (default: 250)")
    add("--seed", type=int, default=0, help="seed of the draw (default: 0)")
    add("--operators", nargs="+", help="names of operators (default: all)")
    add("--equivalent", action="store_true", help="judge the listed equivalent mutations instead")
    add("--csrc", type=Path, help="folder of the vendor's sources: also run the conformance suite")
    add("--define", action="append", default=[], help="macro for the vendor's sources")
    add("--vendor", help="installed vendor whose simulated driver the suite uses")
    add("--work", type=Path, help="folder for objects, which are used again (default: below build)")
    add("--jobs", type=int, default=1, help="mutations that are judged at a time (default: 1)")
    add("--json", type=Path, help="path of a report, written after each verdict")
    add("--resume", action="store_true", help="continue the interrupted run that --json reports")
    add("--survivors", action="store_true", help="judge again what survived in that report")
    add("--at-least", type=float, default=0.98, help="share that must be rejected (default: 0.98)")
    return parser


def _chosen(data: Data, arguments: argparse.Namespace, package: str) -> list[Mutation]:
    """Return the mutations to judge.

    :raises ReportError: the list of equivalent mutations contains stale names.
    """
    named = set(arguments.operators or ())
    entries = [x for x in data.entries if not named or x.name in named]
    listed = equivalent.reasons(package)
    old = equivalent.stale(data.library, data.entries, listed)
    if old:
        raise ReportError(
            f"equivalent/{package}.yaml lists what is no longer a mutation of the description; "
            f"remove it: {old[0]}"
        )
    if arguments.equivalent:
        every = (x for entry in entries for x in mutations(data.library, entry))
        return [x for x in every if x.name in listed]
    return draw(data.library, entries, arguments.count, arguments.seed, listed)


def _print(verdict: Verdict) -> None:
    sys.stdout.write(f"{verdict.stage or 'SURVIVED'}: {verdict.mutation}\n")
    sys.stdout.flush()


def _sources(folder: Path) -> str:
    """Return a hash of the description and of all sources of the suite and the fakes."""
    suite = ROOT / "packages" / "conformance" / "src"
    state = hashlib.sha256(digest((folder.parent, *FAKE_SOURCES, suite)).encode())
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            state.update(path.read_bytes())
    return state.hexdigest()


def main(argv: list[str] | None = None) -> int:
    """Draw mutations, judge each, and print a summary; return 1 if too many survive."""
    arguments = _parser().parse_args(argv)
    folder: Path = arguments.folder.resolve()
    data = load(arguments.folder)
    if data.findings:
        sys.stderr.write("\n".join(map(str, data.findings)) + "\n")
        return 2
    sources = _sources(folder) if arguments.csrc is not None else ""
    what = {"seed": arguments.seed, "count": arguments.count, "sources": sources}
    report = Report(arguments.json, what)
    try:
        chosen = _chosen(data, arguments, folder.parent.name)
        if arguments.resume or arguments.survivors:
            report.resume(only_rejected=arguments.survivors)
    except ReportError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    names = {mutation.name for mutation in chosen}
    report.verdicts = {k: v for k, v in report.verdicts.items() if k in names}
    left = [mutation for mutation in chosen if mutation.name not in report.verdicts]
    # The generator's verdicts are quick: they come first.
    for mutation in left:
        verdict = judge(mutation, [generator_stage(data.library)])
        if verdict.stage or arguments.csrc is None:
            report.add(verdict)
            _print(verdict)
    left = [mutation for mutation in left if mutation.name not in report.verdicts]
    if left:
        work = arguments.work or ROOT / "build" / "mutations" / folder.parent.name
        work.mkdir(parents=True, exist_ok=True)
        builds = Builds(data.library, arguments.csrc, arguments.define, work, sources)
        driver = simulated_driver(arguments.vendor) if arguments.vendor else {}
        suite: Stage = Conformance(builds, driver)
        with ThreadPoolExecutor(arguments.jobs) as pool:
            for verdict in pool.map(lambda mutation: judge(mutation, [suite]), left):
                report.add(verdict)
                _print(verdict)
    if arguments.equivalent:
        wrong = [name for name in names if name not in report.survivors]
        sys.stdout.write("".join(f"is not equivalent: {name}\n" for name in sorted(wrong)))
        sys.stdout.write(f"{len(names)} equivalent mutations, {len(wrong)} rejected\n")
        return 1 if wrong else 0
    sys.stdout.write(report.summary() + "\n")
    rejected = len(names) - len(report.survivors)
    return 0 if rejected >= arguments.at_least * len(names) else 1


if __name__ == "__main__":
    raise SystemExit(main())
