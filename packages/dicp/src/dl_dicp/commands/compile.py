"""``dl compile``: convert exported programs to a graph file, which ``dl run`` runs
without torch.
"""

from __future__ import annotations

import argparse
import re
import warnings
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from diopi_proto.text import write_error, write_output
from dl_core.commands import Command
from dl_core.files import add_force

if TYPE_CHECKING:
    import torch

WRONG_USE, FAILED = 2, 1
_ONLY = "main"
"""Name of the entry of a single program."""

_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)


def _configure(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Make a .dlg file of a program that torch.export saved. Loading a .pt2 file can run code "
        "that it contains: load only files that you trust. A .dlg file contains no code."
    )
    parser.add_argument(
        "programs",
        nargs="+",
        metavar="[NAME=]FILE.pt2",
        help="file written by torch.export.save; several programs become entries of one graph file "
        "under their names, and share weights and state",
    )
    parser.add_argument(
        "-o", "--output", type=Path, required=True, metavar="FILE.dlg", help="graph file to write"
    )
    recording = "vendor whose device records the programs (default: that of the first device)"
    parser.add_argument("--vendor", metavar="NAME", help=recording)
    parser.add_argument(
        "--check",
        action="store_true",
        help="run the graph without torch on the example inputs; if the results differ, write no "
        "file and exit with 1",
    )
    add_force(parser)


def _run(arguments: argparse.Namespace) -> int:
    named = [_named(text) for text in arguments.programs]
    for problem in _problems(arguments, named):
        write_error(f"dl compile: {problem}\n")
        return WRONG_USE
    import torch

    from diopi_proto.errors import DiopiError
    from dl_dicp.export.check import differing_output
    from dl_dicp.export.exporter import ExportError, device_of, export_entries

    place, status = "", WRONG_USE
    # torch.export warns about its own code.
    warnings.filterwarnings("ignore", ".*LeafSpec", FutureWarning)
    try:
        device = device_of(arguments.vendor)
        programs = {}
        for name, file in named:
            place = f"{file}: "
            if not _is_program(file):
                raise ExportError("it was not written by torch.export.save")
            programs[name] = torch.export.load(file)
        place, status = place if len(named) == 1 else "", FAILED
        graph = export_entries(programs, device)
        if arguments.check and (wrong := differing_output(graph, programs, _library(device))):
            raise ExportError(f"results of the graph differ from the program's results: {wrong}")
        graph.save(arguments.output)
    except (ExportError, DiopiError, OSError, RuntimeError, ValueError) as error:
        write_error(f"dl compile: {place}{error}\n")
        return status
    calls = sum(len(graph.entry(name)["calls"]) for name in graph.entries)
    write_output(f"{arguments.output}: {calls} calls, {graph.nbytes} bytes\n")
    return 0


def _named(text: str) -> tuple[str, Path]:
    """Parse ``NAME=FILE`` into the name of an entry and its file."""
    name, sign, file = text.partition("=")
    return (name, Path(file)) if sign else (_ONLY, Path(text))


def _is_program(file: Path) -> bool:
    if not zipfile.is_zipfile(file):
        return False
    with zipfile.ZipFile(file) as archive:
        return any(name.endswith("/archive_format") for name in archive.namelist())


def _library(device: torch.device) -> Path:
    from dl_core import _C

    return Path(_C.device_info(device.index)["library"])


def _problems(arguments: argparse.Namespace, named: list[tuple[str, Path]]) -> Iterator[str]:
    for name, file in named:
        if not _NAME.fullmatch(name):
            yield f"{name!r} is not a valid entry name: use letters, digits and _"
        if not file.is_file():
            yield f"{file} is not a file"
    names = [name for name, _ in named]
    if len(set(names)) < len(names):
        yield "two programs have the same name; give each one: prefill=FILE decode=FILE"
    output: Path = arguments.output
    if output.suffix != ".dlg":
        yield f"the name {output} has to end in .dlg, so that `dl run` recognizes the file"
    if output.exists() and not arguments.force:
        yield f"{output} already exists; --force replaces it"
    if not output.parent.is_dir():
        yield f"{output.parent} is not a folder"


COMPILE = Command(
    "compile", "make a graph file of exported programs; needs torch", _configure, _run
)
