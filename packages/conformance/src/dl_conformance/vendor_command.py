"""The command ``dl vendor``."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from diopi_proto.text import printable, write_error, write_output

from .checks.check import rule_of
from .options import seconds
from .target import Target, TargetError, of_library, of_vendor
from .vendor_check import Verdict, check_vendor

SECONDS = 60.0


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands to a parser."""
    subcommands = parser.add_subparsers(metavar="command", required=True)
    check = subcommands.add_parser(
        "check",
        help="check a vendor library before torch is involved",
        description="Check the build rules, the vendor table, memory, error paths, threads, "
        "streams and events of a library, in child processes. The exit status is 0 without "
        "findings, 1 with findings, and 2 if the library could not be tested.",
    )
    check.add_argument("library", help="path of a library, or name of an installed vendor")
    check.add_argument(
        "--simulate", action="store_true", help="run over the vendor's simulated driver"
    )
    check.add_argument(
        "--seconds",
        type=seconds,
        default=SECONDS,
        metavar="S",
        help=f"timeout of each check in seconds (default: {SECONDS:g})",
    )
    check.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    """Check a library; return the exit status."""
    try:
        target = _target(arguments.library, arguments.simulate)
    except TargetError as error:
        # The messages begin with the options of `dl conformance`.
        text = str(error).removeprefix("--vendor ").removeprefix("--library ")
        write_error(f"dl vendor check: {text}\n")
        return 2
    verdict = check_vendor(target, arguments.seconds)
    if arguments.json:
        write_output(json.dumps({**asdict(verdict), "status": verdict.status}, indent=1) + "\n")
    else:
        _show(target, verdict)
    return verdict.status


def _target(text: str, simulate: bool) -> Target:
    """Return the target of an argument: a path has a slash or a dot, or names a file."""
    path = Path(text)
    if "/" in text or "." in text or path.is_file():
        if simulate:
            raise TargetError("--simulate needs the name of an installed vendor, not a path")
        if path.exists() and not path.is_file():
            raise TargetError(f"{text} is not a file; name the library that the build wrote")
        if not path.is_file():
            raise TargetError(f"{text}: no such file; build the library first")
        return of_library(text)
    return of_vendor(text, simulate, own_operators=True)[0]


def _show(target: Target, verdict: Verdict) -> None:
    for finding in verdict.findings:
        write_output(printable(f"{finding.subject}: {finding.text}") + "\n")
    if verdict.incomplete:
        write_output(printable(f"not tested: {verdict.incomplete}") + "\n")
    for name, reason in verdict.skipped:
        write_output(printable(f'skipped "{rule_of(name)}": {reason}') + "\n")
    number = len(verdict.findings)
    findings = "1 finding" if number == 1 else f"{number or 'no'} findings"
    tested = f"{verdict.ran} runtime checks ran"
    if verdict.incomplete:
        tested = "but only the file and the table were checked"
    write_output(f"{printable(target.name)}: {findings}, {tested}\n")
