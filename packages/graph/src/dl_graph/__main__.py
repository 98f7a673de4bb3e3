"""``python -m dl_graph``: show, verify and run graph files."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from diopi_proto.errors import DiopiError
from diopi_proto.host import load_vendor
from diopi_proto.text import printable, write_output

from .input_file import read_inputs
from .model import ContractGraph, load
from .output_file import check_output, readable, write_outputs
from .session import Session
from .show import show

WRONG_USE, FAILED = 2, 1


def main(
    argv: list[str] | None = None,
    prog: str = "python -m dl_graph",
    library: Path | None = None,
) -> int:
    """Run one command; return the exit code, which is 2 for an invalid argument.

    :param prog: name of the program in messages.
    :param library: vendor library; None if an option names it.
    """
    parser = argparse.ArgumentParser(prog=prog, description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, what in _COMMANDS.items():
        command = commands.add_parser(name, help=what)
        command.add_argument("file", type=Path, metavar="FILE.dlg", help="graph file")
        if name != "verify":
            command.add_argument(
                "--size",
                action="append",
                default=[],
                type=_size,
                metavar="NAME=N",
                help="size of a symbol; may be repeated (default: the largest size)",
            )
        if name == "run":
            inputs = ".npz file of named inputs"
            command.add_argument("inputs", type=Path, metavar="INPUTS.npz", help=inputs)
            command.set_defaults(library=library)
            if library is None:
                command.add_argument("--library", type=Path, required=True, help="vendor library")
            command.add_argument("--entry", help="entry to run; required if there are several")
            command.add_argument("--output", type=Path, help=".npz file for the outputs")
            command.add_argument("--force", action="store_true", help="replace the output file")
    arguments = parser.parse_args(argv)
    try:
        graph = load(arguments.file)
        if arguments.command == "show":
            write_output(show(graph, **dict(arguments.size)))
        run = _prepare_run(graph, arguments) if arguments.command == "run" else None
    except BrokenPipeError:
        raise  # the reader has closed the pipe
    except (DiopiError, OSError, ValueError) as error:
        refused = arguments.command == "verify" and not isinstance(error, OSError)
        return _report(error, FAILED if refused else WRONG_USE)
    try:
        if run is not None:
            run()
    except BrokenPipeError:
        raise
    except (DiopiError, OSError, ValueError) as error:
        return _report(error, FAILED)
    return 0


def _report(error: Exception, status: int) -> int:
    text = str(error)
    if isinstance(error, OSError) and error.filename is not None:
        text = f"{error.filename}: {error.strerror}"
    sys.stderr.write(f"{printable(text)}\n")
    return status


_COMMANDS = {
    "show": "print a graph and its plan",
    "verify": "verify a graph; exit with 1 if it is rejected",
    "run": "run an entry and print its outputs",
}


def _size(text: str) -> tuple[str, int]:
    name, _, number = text.partition("=")
    return name, int(number)


def _prepare_run(graph: ContractGraph, arguments: argparse.Namespace) -> Callable[[], None]:
    """Check the arguments, and return a function that runs the entry."""
    entry = arguments.entry or graph.entries[0]
    if arguments.entry is None and len(graph.entries) > 1:
        raise ValueError(f"choose one with --entry: {', '.join(graph.entries)}")
    if arguments.output is not None:
        check_output(arguments.output, arguments.force)
    described = graph.entry(entry)
    inputs = read_inputs(arguments.inputs, described)

    def run() -> None:
        with load_vendor(arguments.library) as vendor, Session(graph, vendor) as session:
            outputs = session.run(entry, inputs, dict(arguments.size))
        for port in described["outputs"]:
            dtype = described["values"][port["value"]]["dtype"]
            outputs[port["name"]] = readable(outputs[port["name"]], dtype)
        if arguments.output is not None:
            write_outputs(arguments.output, outputs)
        for name, array in outputs.items():
            sys.stdout.write(f"{printable(name)} {array.dtype}{list(array.shape)}\n{array}\n")

    return run


if __name__ == "__main__":
    raise SystemExit(main())
