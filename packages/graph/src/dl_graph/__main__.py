"""``python -m dl_graph``: show, verify and run graph files."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from diopi_proto.errors import DiopiError
from diopi_proto.host import load_vendor
from diopi_proto.text import printable, write_output

from .input_file import read_inputs
from .model import load
from .output_file import check_output, readable, write_outputs
from .session import Session
from .show import show


def main(argv: list[str] | None = None, prog: str = "python -m dl_graph") -> int:
    """Run one command; the result is the exit status.

    :param prog: what messages call the program.
    """
    parser = argparse.ArgumentParser(prog=prog, description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, what in _COMMANDS.items():
        command = commands.add_parser(name, help=what)
        command.add_argument("file", type=Path, help="a .dlg file")
        if name != "verify":
            command.add_argument(
                "--size",
                action="append",
                default=[],
                type=_size,
                metavar="NAME=N",
                help="the size of a symbol; may be repeated",
            )
        if name == "run":
            command.add_argument("inputs", type=Path, help="an .npz file with the inputs by name")
            command.add_argument("--library", type=Path, required=True, help="a vendor library")
            command.add_argument("--entry", help="the entry; needed where there are several")
            command.add_argument("--output", type=Path, help="an .npz file for the outputs")
            command.add_argument("--force", action="store_true", help="replace it if it is there")
    arguments = parser.parse_args(argv)
    try:
        _run(arguments)
    except BrokenPipeError:
        raise  # who reads the output has seen enough
    except (DiopiError, OSError, ValueError) as error:
        sys.stderr.write(f"{printable(str(error))}\n")
        return 1
    return 0


_COMMANDS = {
    "show": "print a graph and its plan",
    "verify": "read a graph; 1 if it is refused",
    "run": "run an entry and print its outputs",
}


def _size(text: str) -> tuple[str, int]:
    name, _, number = text.partition("=")
    return name, int(number)


def _run(arguments: argparse.Namespace) -> None:
    graph = load(arguments.file)
    if arguments.command == "show":
        write_output(show(graph, **dict(arguments.size)))
    elif arguments.command == "run":
        entry = arguments.entry or graph.entries[0]
        if arguments.entry is None and len(graph.entries) > 1:
            raise ValueError(f"choose one with --entry: {', '.join(graph.entries)}")
        if arguments.output is not None:
            check_output(arguments.output, arguments.force)
        inputs = read_inputs(arguments.inputs, graph.entry(entry))
        with load_vendor(arguments.library) as vendor, Session(graph, vendor) as session:
            outputs = session.run(entry, inputs, dict(arguments.size))
        described = graph.entry(entry)
        for port in described["outputs"]:
            dtype = described["values"][port["value"]]["dtype"]
            outputs[port["name"]] = readable(outputs[port["name"]], dtype)
        if arguments.output is not None:
            write_outputs(arguments.output, outputs)
        for name, array in outputs.items():
            sys.stdout.write(f"{printable(name)} {array.dtype}{list(array.shape)}\n{array}\n")


if __name__ == "__main__":
    raise SystemExit(main())
