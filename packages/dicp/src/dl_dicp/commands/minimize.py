"""``dl dicp minimize``: reduce a failing graph to the smallest one that still fails."""

from __future__ import annotations

import argparse
import math
import shlex
from pathlib import Path
from typing import Any

from diopi_proto.text import write_error, write_output
from dl_core.files import add_force, check_free, write

WRONG_USE = 2


def configure(commands: Any) -> None:
    """Add the subcommand ``minimize`` to ``dl dicp``."""
    parser = commands.add_parser(
        "minimize", help="make a failing .dlg file smaller, call by call, while it still fails"
    )
    parser.description = (
        "Remove calls from a graph of one entry as long as the graph still fails; their results "
        "become inputs. A graph fails if its results differ from the same calls in float64, or if "
        "COMMAND, called with the graph file and the input file, ends with a nonzero exit code. "
        "Needs no torch."
    )
    parser.add_argument("graph", type=Path, metavar="FILE.dlg", help="graph that fails")
    parser.add_argument(
        "inputs", type=Path, metavar="INPUTS.npz", help="inputs for which the graph fails"
    )
    parser.add_argument(
        "-o", "--output", type=Path, required=True, metavar="SMALL.dlg", help="graph file to write"
    )
    parser.add_argument(
        "--steps",
        type=float,
        default=64,
        help="allowed difference in rounding steps of the largest element (default: 64)",
    )
    parser.add_argument(
        "--fails",
        metavar="COMMAND",
        help="command that ends with a nonzero exit code if the graph fails",
    )
    add_force(parser)


def run(arguments: argparse.Namespace) -> int:
    """Minimize a graph; return the exit code."""
    import numpy as np

    from diopi_proto import load_vendor
    from diopi_proto.errors import DiopiError
    from dl_core import startup
    from dl_core.environment import environment
    from dl_core.errors import OutputError
    from dl_dicp.minimizing.failing import differs, fails_by_command
    from dl_dicp.minimizing.minimize import Failing, minimize
    from dl_graph import load, read_inputs

    if not 0 <= arguments.steps < math.inf:
        return _refuse(f"--steps must be a finite number >= 0, not {arguments.steps:g}", WRONG_USE)
    command = shlex.split(arguments.fails or "")
    if arguments.fails is not None and not command:
        return _refuse("--fails needs a command, not an empty string", WRONG_USE)
    files = arguments.output, arguments.output.with_suffix(".npz")
    if files[0] == files[1]:
        return _refuse(f"--output {files[0]} must end with .dlg: .npz is for the inputs", WRONG_USE)
    ready = startup.prepare(environment(), None)
    if not ready.plan.order:
        return _refuse(" ".join(["no vendor:", *ready.plan.reasons]), WRONG_USE)
    try:
        check_free(files, arguments.force)
        graph = load(arguments.graph)
        given = Failing(graph, read_inputs(arguments.inputs, graph.entry(graph.entries[0])))
    except (DiopiError, OutputError, OSError, ValueError) as error:
        return _refuse(str(error), WRONG_USE)
    try:
        with load_vendor(ready.vendors[ready.plan.order[0]].library) as vendor:
            fails = fails_by_command(command) if command else differs(vendor, arguments.steps)
            found = minimize(given, vendor, fails)
        write(files[0], found.graph.save, arguments.force)
        write(files[1], lambda made: np.savez(made, **found.inputs), arguments.force)
    except (DiopiError, OutputError, OSError, ValueError) as error:
        return _refuse(str(error), 1)
    write_output(
        f"{files[0]}: {found.calls} of {given.calls} calls; the inputs are in {files[1]}\n"
    )
    return 0


def _refuse(why: str, code: int) -> int:
    write_error(f"dl dicp minimize: {why}\n")
    return code
