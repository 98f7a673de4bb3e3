"""``dl coverage``."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from diopi_proto.text import write_error, write_output
from dl_core.commands import Command
from dl_core.coverage import KINDS, MEANINGS, TIERS, Coverage, measure
from dl_core.coverage_program import examine_program
from dl_core.errors import OutputError
from dl_core.files import add_force, check_free, write_text
from dl_core.tables import show


def _configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--tier", choices=TIERS, help="tier of overloads to report (default: all tiers)"
    )
    parser.add_argument(
        "--list", choices=KINDS, dest="kind", help="kind of overloads to list by name"
    )
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="JSON file for all tiers and overloads"
    )
    parser.add_argument(
        "--program",
        nargs=argparse.REMAINDER,
        metavar="FILE",
        help="script to run with its arguments, or -m MODULE: list the operators that the vendor "
        "should implement next, ranked by the time that the program spends in their fallbacks to "
        "the CPU; --json then names a file for this list. Must be the last option",
    )
    add_force(parser)


def _run(arguments: argparse.Namespace) -> int:
    try:
        return _report(arguments) if arguments.program is None else _program(arguments)
    except OutputError as error:
        write_error(f"dl coverage: {error}\n")
        return 2


def _program(arguments: argparse.Namespace) -> int:
    if arguments.tier or arguments.kind:
        raise OutputError("--tier and --list select overloads and do not apply to --program")
    if not arguments.program:
        raise OutputError("--program needs a script, or -m and a module")
    return examine_program(arguments.program, arguments.json, arguments.force)


def _report(arguments: argparse.Namespace) -> int:
    if arguments.json is not None:
        check_free([arguments.json], arguments.force)
    try:
        devices = measure()
    except ImportError as error:
        write_error(
            f"dl coverage: torch is needed to ask which overloads run where: {error}. Install "
            "torch 2.13; run `dl doctor` to see what else is missing.\n"
        )
        return 1
    if arguments.json is not None:
        report = {"devices": [device.as_json() for device in devices]}
        write_text(arguments.json, json.dumps(report, indent=1) + "\n", arguments.force)
    if not devices:
        write_output("No device is visible; `dl doctor` gives the reasons.\n")
        return 0
    tiers = [arguments.tier] if arguments.tier else list(TIERS)
    for device in devices:
        if arguments.kind is None:
            _show_counts(device, tiers)
        else:
            _show_names(device, tiers, arguments.kind)
    return 0


def _show_counts(device: Coverage, tiers: list[str]) -> None:
    write_output(f"{device.device} ({device.vendor})\n")
    rows = [
        (tier, *(f"{device.count(tier, k)} ({device.percent(tier, k):.1f} %)" for k in KINDS))
        for tier in tiers
    ]
    show(("tier", *KINDS), rows)
    for kind in KINDS:
        write_output(f"- {kind}: {MEANINGS[kind]}\n")
    if lacking := device.lacking(tiers):
        write_output(
            f"- {len(lacking)} operators of the contract would make "
            f"{len(set().union(*lacking.values()))} of the fallbacks native; `dl coverage --list "
            "fallback` names them, and `dl coverage --program train.py` ranks them for a program\n"
        )
    if device.adaptor:
        write_output(f"- adaptor for arguments of some native operators: {device.adaptor}\n")


def _show_names(device: Coverage, tiers: list[str], kind: str) -> None:
    for tier in tiers:
        names = device.overloads[tier][kind]
        write_output(f"{device.device} ({device.vendor}), tier {tier}, {len(names)} {kind}\n")
        for name in names:
            lacks = device.needs.get(name, ()) if kind == "fallback" else ()
            reason = f": vendor {device.vendor} has no {' or '.join(lacks)}" if lacks else ""
            write_output(f"  {name}{reason}\n")


COVERAGE = Command(
    "coverage", "count the overloads that run natively on each device", _configure, _run
)
