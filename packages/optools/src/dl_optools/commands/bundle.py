"""``dl bundle``: show and export captured calls."""

from __future__ import annotations

import argparse
from pathlib import Path

from diopi_proto.text import printable
from dl_core.commands import Command
from dl_core.files import add_force
from dl_core.tables import show
from dl_optools.bundle.location import find
from dl_optools.isolation.answer import Answer
from dl_optools.isolation.options import add_limits, refuse, show_texts, worker_of
from dl_optools.isolation.worker import UnusableError


def _configure(parser: argparse.ArgumentParser) -> None:
    parsers = parser.add_subparsers(metavar="what", required=True)
    for name, text, target in (
        ("show", "verify a bundle and show its content", ""),
        ("to-repro", "write a stand-alone script that runs the call", "SCRIPT"),
        ("to-bench", "write a stand-alone script that times the call", "SCRIPT"),
        ("pack", "copy one bundle into a directory of its own", "DIRECTORY"),
        ("to-conformance", "write the call as cases of the conformance suite", "-o"),
    ):
        one = parsers.add_parser(name, help=text, description=text)
        one.add_argument("bundle", type=Path, help="bundle file or folder")
        if target == "-o":
            text = "file of cases, for `dl conformance --cases`"
            one.add_argument("-o", "--output", type=Path, metavar="FILE", required=True, help=text)
        elif target:
            one.add_argument("output", type=Path, metavar=target, help="path to write")
        if target:
            add_force(one)
        add_limits(one)
        one.set_defaults(what=name, run_bundle=_export if target else _show)


def _run(arguments: argparse.Namespace) -> int:
    found = find(arguments.bundle)
    if not found:
        return refuse(f"{arguments.bundle}: no bundle found")
    try:
        return int(arguments.run_bundle(arguments, found))
    except UnusableError as error:
        return refuse(str(error))


def _show(arguments: argparse.Namespace, found: list[Path]) -> int:
    worker = worker_of(arguments, name="dl bundle")
    try:
        return max([_show_one(worker.ask("show", str(directory))) for directory in found])
    finally:
        worker.close()


def _show_one(answer: Answer) -> int:
    code = show_texts(answer)
    if answer.rows:
        rows = [tuple(map(printable, row)) for row in answer.rows]
        show(("tensor", "dtype", "shape", "strides", "device", "place"), rows)
    return code


def _export(arguments: argparse.Namespace, found: list[Path]) -> int:
    if len(found) > 1:
        return refuse(f"{arguments.bundle} holds {len(found)} bundles; name a single one")
    worker = worker_of(arguments, name="dl bundle", writes=True)
    try:
        answer = worker.ask(
            "export",
            str(found[0]),
            what=arguments.what,
            output=str(arguments.output),
            force=arguments.force,
            trusted=arguments.trusted,
        )
    finally:
        worker.close()
    return show_texts(answer)


BUNDLE = Command("bundle", "show or export captured operator calls", _configure, _run)
