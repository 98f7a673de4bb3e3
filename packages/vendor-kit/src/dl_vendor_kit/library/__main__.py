"""Command line: ``python -m dl_vendor_kit.library FOLDER``."""

from __future__ import annotations

import argparse
from pathlib import Path

from diopi_proto.text import write_error, write_output

from .check import check
from .loading import load
from .located import MOST_FINDINGS, DataError
from .outputs import outputs, stale_outputs
from .writing import OutputError, outputs_that_differ, remove_output, write_outputs


def main(argv: list[str] | None = None) -> int:
    """Check the data files and write what is generated from them; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m dl_vendor_kit.library",
        description="Check the operators of a library vendor and generate its C++ sources.",
    )
    parser.add_argument("folder", type=Path, help="folder that contains library.yaml")
    action = parser.add_mutually_exclusive_group()
    action.add_argument(
        "--check", action="store_true", help="write nothing; exit with status 1 if a file differs"
    )
    action.add_argument(
        "--findings", action="store_true", help="write nothing; only check the data files"
    )
    arguments = parser.parse_args(argv)
    folder: Path = arguments.folder
    try:
        checked = check(load(folder))
        found = checked.findings
        # Code is generated only from data without findings.
        wanted = {} if found else outputs(checked)
    except DataError as error:
        write_error(f"{error}\n")
        return 1
    for finding in found[:MOST_FINDINGS]:
        write_error(f"{finding}\n")
    if found:
        count = len(found)
        more = " or more" if count >= MOST_FINDINGS else ""
        write_error(f"{count}{more} finding{'s' if count > 1 else ''}; nothing is written\n")
        return 1
    if arguments.findings:
        return 0
    stale = stale_outputs(checked, wanted)
    if arguments.check:
        return _compare(folder, [*outputs_that_differ(wanted), *stale])
    return _update(wanted, stale)


def _compare(folder: Path, wrong: list[Path]) -> int:
    """Report the files that differ from what is generated."""
    for file in wrong:
        write_error(f"{file} is out of date\n")
    if wrong:
        write_error(f"run: python -m dl_vendor_kit.library {folder}\n")
    return 1 if wrong else 0


def _update(wanted: dict[Path, str], stale: list[Path]) -> int:
    try:
        for file in write_outputs(wanted):
            write_output(f"wrote {file}\n")
        for file in stale:
            remove_output(file)
            write_output(f"removed {file}\n")
    except OutputError as error:
        write_error(f"{error}\n")
        return 1
    return 0


def _run() -> int:
    """Run the command; an interrupt leaves each file either as it was or complete."""
    try:
        return main()
    except KeyboardInterrupt:
        write_error("interrupted; run the command again\n")
        return 130


if __name__ == "__main__":
    raise SystemExit(_run())
