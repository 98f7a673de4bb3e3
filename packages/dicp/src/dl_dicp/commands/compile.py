"""``dl compile``: an exported program as a contract graph, which ``dl run`` runs without torch."""

from __future__ import annotations

import argparse
import sys
import zipfile
from pathlib import Path

from dl_core.commands import Command
from dl_core.files import add_force


def _configure(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Makes a .dlg file of a program that torch.export saved. Reading a .pt2 file can run code "
        "that is in it: read only those that you trust. A .dlg file runs none."
    )
    parser.add_argument("program", type=Path, help="a .pt2 file of torch.export.save")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE.dlg")
    add_force(parser)


def _run(arguments: argparse.Namespace) -> int:
    for problem in _problems(arguments):
        sys.stderr.write(f"dl compile: {problem}\n")
        return 2
    import torch

    from dl_dicp.export import ExportError, export

    try:
        if not zipfile.is_zipfile(arguments.program):
            raise ExportError("it is no file of torch.export.save")
        graph = export(torch.export.load(arguments.program))
        graph.save(arguments.output)
    except (ExportError, OSError, RuntimeError, ValueError) as error:
        sys.stderr.write(f"dl compile: {arguments.program}: {error}\n")
        return 1
    calls = len(graph.entry(graph.entries[0])["calls"])
    sys.stdout.write(f"{arguments.output}: {calls} calls, {len(graph.content)} bytes\n")
    return 0


def _problems(arguments: argparse.Namespace) -> list[str]:
    problems = []
    if not arguments.program.is_file():
        problems.append(f"{arguments.program} is no file")
    if arguments.output.suffix != ".dlg":
        problems.append(f"{arguments.output} has to end in .dlg, by which `dl run` knows it")
    if arguments.output.exists() and not arguments.force:
        problems.append(f"{arguments.output} is there already; --force replaces it")
    return problems


COMPILE = Command(
    "compile", "makes a graph file of an exported program; needs torch", _configure, _run
)
