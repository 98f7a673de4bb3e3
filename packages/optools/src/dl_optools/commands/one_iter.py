"""``dl one-iter``: show and compare steps recorded by :class:`.one_iter.recording.OneIter`."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from diopi_proto.text import printable, write_error, write_output
from dl_core.commands import Command
from dl_core.errors import OutputError
from dl_core.files import add_force, check_free, write_text
from dl_core.tables import show
from dl_optools.option_types import tolerance

if TYPE_CHECKING:
    from dl_optools.one_iter.folder import Reader

REFUSED = 2


def _configure(parser: argparse.ArgumentParser) -> None:
    parsers = parser.add_subparsers(metavar="what", required=True)
    text = "compare two recorded steps; exit code 1 if they differ"
    one = parsers.add_parser("compare", help=text, description=text)
    one.add_argument("trusted", type=Path, help="folder of the trusted step")
    one.add_argument("tested", type=Path, help="folder of the step under test")
    one.add_argument(
        "--tolerance",
        type=tolerance,
        metavar="X",
        help="relative tolerance where no rounding bound applies "
        "(default: square root of the dtype's epsilon)",
    )
    one.add_argument("--all", action="store_true", help="also show layers that agree")
    one.add_argument("--json", type=Path, metavar="FILE", help="write the full result to a file")
    add_force(one)
    one.set_defaults(work=_compare)
    text = "list the content of a recorded step in execution order"
    one = parsers.add_parser("show", help=text, description=text)
    one.add_argument("folder", type=Path, help="folder of a recorded step")
    one.set_defaults(work=_show)


def _run(arguments: argparse.Namespace) -> int:
    from dl_optools.one_iter.folder import OneIterError

    try:
        return int(arguments.work(arguments))
    except (OneIterError, OutputError) as error:
        write_error(f"dl one-iter: {error}\n")
        return REFUSED


def _compare(arguments: argparse.Namespace) -> int:
    from dl_optools.one_iter.compare import compare

    if arguments.json is not None:
        check_free([arguments.json], arguments.force)
    found = compare(arguments.trusted, arguments.tested, arguments.tolerance)
    for each in found:
        write_output(each.text(arguments.all))
    if arguments.json is not None:
        document = {"ranks": [each.as_json() for each in found]}
        write_text(arguments.json, json.dumps(document, indent=1) + "\n", arguments.force)
    return 0 if all(each.ok for each in found) else 1


def _show(arguments: argparse.Namespace) -> int:
    from dl_optools.one_iter.folder import Reader, ranks

    for name, folder in ranks(arguments.folder).items():
        reader = Reader(folder)
        facts = ", ".join(f"{key} {value}" for key, value in reader.facts.items())
        write_output(f"{name}: {facts}\n")
        if reader.broken_by:
            write_output("  incomplete: the step raised an exception, and may be recorded again\n")
        rows = [
            (
                str(at),
                printable(str(record)),
                "random" if record.random else "",
                ", ".join(_describe(reader, x) for x in record.outputs.values()),
            )
            for at, record in enumerate(reader.records)
        ]
        show(("", "event", "", "outputs"), rows)
    return 0


def _describe(reader: Reader, name: str) -> str:
    tensor = reader.tensor(name)
    return f"{str(tensor.dtype).removeprefix('torch.')}{list(tensor.shape)}"


ONE_ITER = Command("one-iter", "compare or show recorded training steps", _configure, _run)
