"""``dl doctor`` and ``dl devices``, and the list of the built-in commands."""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import sys
from pathlib import Path

from diopi_proto.text import printable
from dl_core import files
from dl_core.bug_report import compose
from dl_core.commands import Command
from dl_core.commands_coverage import COVERAGE
from dl_core.commands_run import RUN
from dl_core.doctor import Report, VendorReport, examine
from dl_core.doctor_added import AddedReport
from dl_core.tables import show

_MOST_NAMES = 10
"""Maximum number of names in a line; the JSON output has all names."""


def _add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")


def _say(*lines: str) -> None:
    """Print lines. Text from plugins and libraries is escaped, so that it cannot add
    line breaks."""
    for line in lines:
        sys.stdout.write(printable(line) + "\n")


def _say_json(found: object) -> None:
    sys.stdout.write(json.dumps(found, indent=2) + "\n")


def _add_doctor(parser: argparse.ArgumentParser) -> None:
    _add_json(parser)
    parser.add_argument(
        "--report",
        type=Path,
        metavar="FILE",
        help="write a bug report, without secrets and names of the user or the machine",
    )
    files.add_force(parser)


def _doctor(arguments: argparse.Namespace) -> int:
    wanted: Path | None = arguments.report
    if wanted is not None:
        files.check_free([wanted], arguments.force)
    report = examine()
    if wanted is not None:
        with contextlib.redirect_stdout(io.StringIO()) as shown:
            _show_report(report)
        files.write_text(wanted, compose(shown.getvalue(), os.environ), arguments.force)
        _say(f"wrote {wanted}; read it before you send it")
    elif arguments.json:
        _say_json(report.as_json())
    else:
        _show_report(report)
    return 0 if report.healthy else 1


def _show_report(report: Report) -> None:
    _say(f"dl-core {report.core} in {report.location}, Python {report.python}")
    torch = f"torch {report.torch}" if report.torch else "torch is not installed"
    compiled = (
        f"compiled for torch {report.compiled_for}"
        if report.compiled_for
        else "the torch release it was compiled for is unknown"
    )
    _say(f"{torch}; {compiled}")
    for name, value in report.settings.items():
        _say(f"{name}={value}")
    _say("", "Plugins")
    show(
        ("name", "wheel", "status", "import"),
        [(p.name, p.wheel, p.status, f"{p.milliseconds:.1f} ms") for p in report.plugins],
    )
    for vendor in report.vendors:
        _say("")
        _show_vendor(vendor)
    for added in report.added:
        _say("")
        _show_added(added)
    _say("", "Visible devices")
    if report.visible:
        show(
            ("device", "vendor", "vendor's number", "name"),
            [(d.device, d.vendor, str(d.vendor_device), d.name) for d in report.visible],
        )
    else:
        _say("none")
    for reason in report.reasons:
        _say(f"- {reason}")
    if report.missing:
        _say("", "Not installed")
        for text in report.missing:
            _say(f"- {text}")
    if report.notes:
        _say("", "Good to know")
        for text in report.notes:
            _say(f"- {text}")
    _say("", f"Problems: {len(report.problems) or 'none'}")
    for problem in report.problems:
        _say(f"- {problem}")


def _show_vendor(vendor: VendorReport) -> None:
    kind = "accelerator" if vendor.accelerator else "CPU reference"
    _say(f"Vendor {vendor.name} ({kind}, priority {vendor.priority}), {vendor.wheel}")
    _say(f"  library   {vendor.library}")
    if vendor.runtime is not None:
        _say(f"  runtime   {vendor.runtime}")
    if vendor.error:
        _say(f"  broken    {vendor.error}")
        return
    facts = [f"interface {vendor.abi}"]
    if vendor.library_version:
        facts.append(f"version {vendor.library_version}")
    facts.append(f"{vendor.operators} operators")
    if vendor.legacy and vendor.runtime is None:
        facts.append("one device in host memory")
    _say(f"  {', '.join(facts)}")
    if vendor.extensions:
        _say(f"  extensions: {', '.join(vendor.extensions)}")
    if vendor.kernels is not None:
        kernels = vendor.kernels
        by = f"by {kernels.compiler}" if kernels.compiler else f"not: {kernels.unavailable}"
        _say(f"  compiles kernels in {kernels.languages} {by}")
    for name, said in vendor.libraries.items():
        _say(f"  {name}: {said}")
    if vendor.adapted:
        _say(f"  adaptor {vendor.adaptor}: {vendor.adapted}")
    if vendor.mismatched:
        _say(f"  built against another contract, so run on the CPU: {', '.join(vendor.mismatched)}")
    if vendor.unknown:
        _say(
            "  not in this host's contract, so never called: "
            f"{_first(vendor.unknown)}. Correct the names, or use a release for this contract"
        )
    for device in vendor.devices:
        size = f", {device.total_memory / 2**30:.1f} GiB" if device.total_memory else ""
        _say(f"  device {device.index}  {device.name}{size} {device.architecture}".rstrip())
    if not vendor.devices:
        said = vendor.no_device.removeprefix("no device: ")
        _say(f"  no device: {said or _guess_absence(vendor)}")


def _show_added(added: AddedReport) -> None:
    where = ", ".join(added.devices) or "no visible device"
    _say(
        f"Operators {added.name} added to vendor {added.vendor} (priority {added.priority}; "
        f"{where}), {added.wheel}"
    )
    _say(f"  library   {added.library}")
    if added.present is False:
        _say("  not used: its presence check says that this machine does not support it")
    elif added.error:
        _say(f"  broken    {added.error}")
    else:
        version = f"version {added.version}: " if added.version else ""
        _say(f"  {version}{_first(added.operators) or 'no operators'}")


def _guess_absence(vendor: VendorReport) -> str:
    """Return why a vendor that gives no reason may have no device."""
    if not vendor.missing_libraries:
        return "no driver was found, or no device for the driver"
    return (
        "no driver was found, or no device for the driver. The library names these files, which "
        f"are not installed: {_first(vendor.missing_libraries)}"
    )


def _first(names: list[str]) -> str:
    more = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


def _devices(arguments: argparse.Namespace) -> int:
    report = examine()
    if arguments.json:
        _say_json(report.as_json()["visible"])
    elif report.visible:
        show(
            ("device", "vendor", "vendor's number", "name"),
            [(d.device, d.vendor, str(d.vendor_device), d.name) for d in report.visible],
        )
    else:
        _say(" ".join(["No device is visible.", *report.reasons, *report.problems]))
    return 0


BUILTIN = (
    Command(
        "doctor", "check the installation; exit with code 1 if a check fails", _add_doctor, _doctor
    ),
    Command("devices", "list the devices that torch sees as dl:0, dl:1, …", _add_json, _devices),
    COVERAGE,
    RUN,
)
