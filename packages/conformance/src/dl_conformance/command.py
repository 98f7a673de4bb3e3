"""The commands ``dl conformance`` and ``python -m dl_conformance``."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from diopi_proto.text import write_error, write_output

from .captured import CaseFileError
from .earlier import finished, read_earlier
from .empty import chosen_names
from .journal import Journal, Plan, run_of
from .models.model import all_models
from .options import add_options, add_targets, jobs, selection_of, target_of
from .outcome import Outcome
from .page import page
from .pool import NoDeviceError, Pool, WorkerError
from .report_file import ReportError, check_writable, read_report, write
from .results import Results
from .selection import Selection, SelectionError
from .target import Target, TargetError, way_out

HELP = "run the conformance suite on the operators of a library"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options to a parser."""
    what = parser.add_mutually_exclusive_group()
    add_targets(what.add_argument)
    what.add_argument(
        "--reports",
        nargs="+",
        metavar="FILE",
        help="reports written by --json to render as one page with --html, without running cases",
    )
    what.add_argument(
        "--list-models", action="store_true", help="print the models with their sources"
    )
    add = parser.add_argument
    add("--list", action="store_true", help="print the names of the selected cases without running")
    add_options(add)
    add(
        "-k",
        dest="expression",
        default="",
        metavar="EXPR",
        help="expression of words in names: 'transposed and not (float16 or bfloat16)'",
    )
    add("--case", action="append", default=[], metavar="NAME", help="run this case (repeatable)")
    add("--jobs", type=jobs, default=0, metavar="N", help="number of workers (default: all CPUs)")
    add(
        "--rerun-failed",
        action="store_true",
        help="run the failed cases of the report that --json names, and update it",
    )
    add("--resume", action="store_true", help="continue the interrupted run that writes to --json")
    add("--json", metavar="FILE", help="path of the report as JSON")
    add("--html", metavar="FILE", help="path of the report as an HTML page")
    add("--junit", metavar="FILE", help="path of the report as JUnit XML")
    add("--all-failures", action="store_true", help="print each failure as it happens")


def run(arguments: argparse.Namespace) -> int:
    """Run the suite; return 0 if nothing failed, 1 if something did, 2 if it could not run."""
    try:
        return _run(arguments)
    except NoDeviceError as error:
        hint = way_out(arguments.vendor, arguments.simulate)
        write_error(f"conformance: {error}{hint}\n")
        return 2
    except (
        *(TargetError, SelectionError, CaseFileError),
        *(WorkerError, ReportError, OSError),
    ) as error:
        write_error(f"conformance: {error}\n")
        return 2


def _run(arguments: argparse.Namespace) -> int:
    if arguments.list and (arguments.reports or arguments.list_models):
        raise SelectionError(
            "--list prints cases and cannot be combined with --reports or --list-models"
        )
    if arguments.reports:
        if not arguments.html:
            raise ReportError("--reports renders a page of reports: name its path with --html FILE")
        reports = [read_report(Path(path)) for path in arguments.reports]
        write(Path(arguments.html), page(reports))
        return 0
    if arguments.list_models:
        write_output(models_as_text())
        return 0
    selection, earlier = _selection(arguments), None
    if arguments.rerun_failed:
        earlier = read_earlier(Path(arguments.json))
        if not earlier.failed:
            said = f"nothing failed in {arguments.json}: there is nothing to run again\n"
            (sys.stderr if arguments.list else sys.stdout).write(said)
            return 0 if arguments.list else _pages(arguments, *earlier.whole())
        selection = replace(selection, failed=earlier.failed)
    names = chosen_names(selection)
    if arguments.list:
        # Report a defective library here too.
        if arguments.library or arguments.vendor:
            target_of(arguments)
        write_output("".join(f"{name}\n" for name in names))
        return 0
    target, known = target_of(arguments)
    for file in (arguments.json, arguments.html, arguments.junit):
        if file is not None:
            check_writable(file)
    report = Path(arguments.json) if arguments.json else None
    if arguments.resume and report is None:
        raise SelectionError(
            "--resume continues the run of the report that --json names: give both"
        )
    if earlier is not None:
        earlier.check_library(target)
    elif arguments.resume and report and (done := finished(report, target, names)):
        whole, of, took = done.whole()
        said = f"the run to {report} is finished: there is nothing to resume"
        write_output(f"{said}\n{whole.text(of, took)}\n")
        return _pages(arguments, whole, of, took)
    models_of = {case.name: case.models for case in selection.cases()}
    results = Results(known, selection.promised or {}, models_of, selection.models)
    journal = Journal(report, target, Plan(names, selection.text()), resume=arguments.resume)
    start = time.monotonic()
    about = _cases(arguments, target, names, results, journal)
    if about is None:
        return 2
    seconds = time.monotonic() - start
    if earlier is not None:
        said = f"{len(names)} of {len(earlier.failed)} failed cases ran again"
        write_output(f"{said}: {len(results.failed)} failed\n")
        results, seconds = earlier.merged(results), seconds + earlier.seconds
    # Print first, because writing fails on a full disk.
    write_output(results.text(about, seconds) + "\n")
    if report:
        write(report, results.json(about, seconds))
        journal.remove()
    return _pages(arguments, results, about, seconds)


def _cases(
    arguments: argparse.Namespace,
    target: Target,
    names: Sequence[str],
    results: Results,
    journal: Journal,
) -> dict[str, Any] | None:
    """Run the cases that the journal does not have, and return the description of the vendor.

    :returns: None if the user interrupted the run.
    """
    pool = Pool(
        target,
        jobs=arguments.jobs or os.cpu_count() or 1,
        seconds=arguments.seconds,
        files=arguments.cases,
    )

    def report_outcome(outcome: Outcome) -> None:
        # Count first, so that an interrupted run has counted all that the journal has.
        results.add(outcome)
        journal.add(outcome)
        last = results.outcomes[-1]
        if arguments.all_failures and last.status == "failed":
            write_output(f"{last.name}: {last.cause}\n  {last.detail}\n")

    with journal:
        for name in names:
            if name in journal.outcomes:
                results.add(journal.outcomes[name])
        try:
            pool.run([name for name in names if name not in journal.outcomes], report_outcome)
        except KeyboardInterrupt:
            count = f"interrupted after {len(results.outcomes)} of {len(names)} cases"
            go_on = "; --resume continues" if arguments.json else ""
            write_error(f"conformance: {count}{go_on}\n")
            return None
    about = {**run_of(target), **pool.about}
    return {key: value for key, value in about.items() if key != "suite"}


def _pages(
    arguments: argparse.Namespace, results: Results, about: dict[str, Any], seconds: float
) -> int:
    """Write the HTML and JUnit reports, and return the exit status."""
    if arguments.html:
        write(Path(arguments.html), page([results.as_dict(about, seconds)]))
    if arguments.junit:
        write(Path(arguments.junit), results.junit(about, seconds))
    return 1 if results.failed else 0


def _selection(arguments: argparse.Namespace) -> Selection:
    selection = replace(selection_of(arguments), expression=arguments.expression)
    if arguments.case:
        selection = replace(selection, names=frozenset(arguments.case))
    if arguments.rerun_failed and not arguments.json:
        raise SelectionError("--rerun-failed updates the report that --json names: give both")
    return selection


def models_as_text() -> str:
    """Return a line for each model: name, numbers of cases and operators, and source."""
    lines = []
    for name, model in all_models().items():
        cases = list(Selection(models=[name]).cases())
        operators = {case.operator for case in cases}
        count = f"{len(cases):4} cases of {len(operators):3} operators"
        lines.append(f"{name:24} {count}  {model.published}\n")
    return "".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command without dl-core."""
    parser = argparse.ArgumentParser(prog="python -m dl_conformance", description=HELP)
    configure(parser)
    return run(parser.parse_args(argv))
