"""``dl conformance`` and ``python -m dl_conformance``."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from .catalog import all_cases
from .execute import Outcome
from .page import page
from .pool import Pool, WorkerError
from .results import ReportError, Results, failed_names, read_report
from .selection import Selection, SelectionError, sample_of
from .target import Target, TargetError, of_library, of_vendor, profile, read_known_failures

HELP = "which operators of a library are right, and by how much the others are wrong"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--vendor", metavar="NAME", help="an installed vendor")
    what.add_argument("--library", metavar="PATH", help="a library, of either style")
    what.add_argument(
        "--reports", nargs="+", metavar="FILE", help="make --html of reports written by --json"
    )
    what.add_argument("--list", action="store_true", help="print the names of all chosen cases")
    add = parser.add_argument
    add("--runtime", metavar="PATH", help="a library that --library takes functions from")
    add(
        "-k",
        dest="expression",
        default="",
        metavar="EXPR",
        help="words of names: 'transposed not float16'",
    )
    add("--fname", action="append", default=[], metavar="OP", help="an operator: Add, 'diopiFore*'")
    add("--filter-dtype", action="append", default=[], metavar="DTYPE", help="cases of a dtype")
    add("--nhwc", action="store_true", help="cases whose tensors are channels-last")
    add("--sample", default="1", metavar="N/SEED", help="one case of N, chosen by the seed")
    add("--case", action="append", default=[], metavar="NAME", help="the case of this name")
    add("--jobs", type=int, default=0, metavar="N", help="workers; default: one for each processor")
    add("--seconds", type=float, default=60.0, metavar="S", help="how long a case may take (60)")
    add("--rerun-failed", action="store_true", help="what failed in the report that --json names")
    add(
        "--known-failures",
        metavar="FILE",
        help="names of cases that fail; default: the vendor's own",
    )
    add(
        "--profile",
        metavar="NAME",
        help="what a profile promises, and nothing of it is unsupported",
    )
    add("--json", metavar="FILE", help="write the report as JSON")
    add("--html", metavar="FILE", help="write the report as one page of HTML")
    add("--junit", metavar="FILE", help="write the report as JUnit's XML")
    add("--all-failures", action="store_true", help="print each failure, as it happens")


def run(arguments: argparse.Namespace) -> int:
    """Run the suite; 0: nothing failed, 1: something did, 2: it could not run."""
    try:
        return _run(arguments)
    except (TargetError, SelectionError, WorkerError, ReportError, OSError) as error:
        sys.stderr.write(f"conformance: {error}\n")
        return 2


def _run(arguments: argparse.Namespace) -> int:
    if arguments.reports:
        if not arguments.html:
            raise ReportError("--reports makes a page of reports: say where with --html FILE")
        reports = [read_report(Path(path)) for path in arguments.reports]
        Path(arguments.html).write_text(page(reports), encoding="utf-8")
        return 0
    selection = _selection(arguments)
    names = [case.name for case in selection.cases()]
    if arguments.list:
        sys.stdout.write("".join(f"{name}\n" for name in names))
        return 0
    target, known = _target(arguments)
    if not names:
        raise SelectionError("the options choose no case; --list without options prints all names")
    results = Results(known, selection.promised or {})

    def tell(outcome: Outcome) -> None:
        results.add(outcome)
        last = results.outcomes[-1]
        if arguments.all_failures and last.status == "failed":
            sys.stdout.write(f"{last.name}: {last.cause}\n  {last.detail}\n")

    start = time.monotonic()
    pool = Pool(target, jobs=arguments.jobs or os.cpu_count() or 1, seconds=arguments.seconds)
    pool.run(names, tell)
    seconds = time.monotonic() - start
    about: dict[str, Any] = {**target.as_dict(), **pool.about}
    if arguments.json:
        results.write_json(Path(arguments.json), about, seconds)
    if arguments.html:
        text = page([results.as_dict(about, seconds)])
        Path(arguments.html).write_text(text, encoding="utf-8")
    if arguments.junit:
        results.write_junit(Path(arguments.junit), about, seconds)
    sys.stdout.write(results.text(about, seconds) + "\n")
    return 1 if results.failed else 0


def _target(arguments: argparse.Namespace) -> tuple[Target, frozenset[str]]:
    file = arguments.known_failures
    if arguments.library:
        target = of_library(arguments.library, arguments.runtime)
    elif arguments.vendor:
        target, own = of_vendor(arguments.vendor)
        file = file or own
    else:
        raise TargetError("name what to test: --vendor NAME or --library PATH")
    known = read_known_failures(Path(file)) if file else frozenset()
    if known and (unknown := known - {case.name for case in all_cases()}):
        raise TargetError(f"{file}: there is no case {min(unknown)!r}")
    return target, known


def _selection(arguments: argparse.Namespace) -> Selection:
    parts, seed = sample_of(arguments.sample)
    selection = Selection(
        expression=arguments.expression,
        operators=arguments.fname,
        dtypes=arguments.filter_dtype,
        layout="channels-last" if arguments.nhwc else "",
        parts=parts,
        seed=seed,
        promised=profile(arguments.profile) if arguments.profile else None,
    )
    if arguments.case:
        selection = replace(selection, names=frozenset(arguments.case))
    if arguments.rerun_failed:
        if not arguments.json:
            raise SelectionError("--rerun-failed reads the report that --json names: give both")
        selection = replace(selection, names=failed_names(Path(arguments.json)))
    return selection


def main(argv: Sequence[str] | None = None) -> int:
    """The same without dl-core."""
    parser = argparse.ArgumentParser(prog="python -m dl_conformance", description=HELP)
    configure(parser)
    return run(parser.parse_args(argv))
