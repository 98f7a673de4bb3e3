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

from .execute import Outcome
from .models.model import all_models
from .options import add_options, add_targets, selection_of, target_of
from .page import page
from .pool import Pool, WorkerError
from .results import ReportError, Results, failed_names, read_report
from .selection import Selection, SelectionError
from .target import TargetError

HELP = "which operators of a library are right, and by how much the others are wrong"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    what = parser.add_mutually_exclusive_group()
    add_targets(what.add_argument)
    what.add_argument(
        "--reports", nargs="+", metavar="FILE", help="make --html of reports written by --json"
    )
    what.add_argument("--list", action="store_true", help="print the names of all chosen cases")
    what.add_argument("--list-models", action="store_true", help="print the models, and what of")
    add = parser.add_argument
    add_options(add)
    add(
        "-k",
        dest="expression",
        default="",
        metavar="EXPR",
        help="words of names: 'transposed not float16'",
    )
    add("--case", action="append", default=[], metavar="NAME", help="the case of this name")
    add("--jobs", type=int, default=0, metavar="N", help="workers; default: one for each processor")
    add("--rerun-failed", action="store_true", help="what failed in the report that --json names")
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
    if arguments.list_models:
        sys.stdout.write(models_as_text())
        return 0
    selection = _selection(arguments)
    models_of = {case.name: case.models for case in selection.cases()}
    names = [*selection.checks(), *models_of]
    if arguments.list:
        sys.stdout.write("".join(f"{name}\n" for name in names))
        return 0
    target, known = target_of(arguments)
    if not names:
        raise SelectionError("the options choose no case; --list without options prints all names")
    results = Results(known, selection.promised or {}, models_of)

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


def _selection(arguments: argparse.Namespace) -> Selection:
    selection = replace(selection_of(arguments), expression=arguments.expression)
    if arguments.case:
        selection = replace(selection, names=frozenset(arguments.case))
    if arguments.rerun_failed:
        if not arguments.json:
            raise SelectionError("--rerun-failed reads the report that --json names: give both")
        selection = replace(selection, names=failed_names(Path(arguments.json)))
    return selection


def models_as_text() -> str:
    """A line for each model: its name, how many calls of how many operators, and its source."""
    lines = []
    for name, model in all_models().items():
        cases = list(Selection(models=[name]).cases())
        operators = {case.operator for case in cases}
        count = f"{len(cases):4} cases of {len(operators):3} operators"
        lines.append(f"{name:24} {count}  {model.published}\n")
    return "".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    """The same without dl-core."""
    parser = argparse.ArgumentParser(prog="python -m dl_conformance", description=HELP)
    configure(parser)
    return run(parser.parse_args(argv))
