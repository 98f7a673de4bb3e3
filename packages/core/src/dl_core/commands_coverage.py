"""``dl coverage``."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from diopi_proto.text import write_error, write_output
from dl_core.commands import Command
from dl_core.coverage import KINDS, MEANINGS, TIERS, Coverage, measure
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
    add_force(parser)


def _run(arguments: argparse.Namespace) -> int:
    try:
        return _report(arguments)
    except OutputError as error:
        write_error(f"dl coverage: {error}\n")
        return 2


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
    if device.adaptor:
        write_output(f"- its adaptor converts for native ones: {device.adaptor}\n")


def _show_names(device: Coverage, tiers: list[str], kind: str) -> None:
    for tier in tiers:
        names = device.overloads[tier][kind]
        write_output(f"{device.device} ({device.vendor}), tier {tier}, {len(names)} {kind}\n")
        for name in names:
            write_output(f"  {name}\n")


COVERAGE = Command(
    "coverage", "count the overloads that run natively on each device", _configure, _run
)
