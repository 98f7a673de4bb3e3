"""Criteria for a failing graph: comparison with float64 results, or the exit code of a command.

Needs no torch.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from diopi_proto.errors import DiopiError
from diopi_proto.host.vendor import Vendor
from diopi_proto.worker import WorkerError, run_command
from dl_dicp.minimizing.minimize import Arrays, Failing
from dl_graph import ContractGraph, Session, read
from dl_graph.file import pack

TIMEOUT = 300
"""Timeout of a command in seconds; a hang counts as a failure."""


def differs(vendor: Vendor, steps: float) -> Callable[[Failing], bool]:
    """Return a function that returns True if the float32 results of a graph differ from those of
    the same calls in float64, where each call runs as a whole. A graph that fails to run in either
    dtype does not differ.

    :param steps: allowed difference in rounding steps of the largest element.
    """

    def fails(given: Failing) -> bool:
        try:
            made = _results(given.graph, given.inputs, vendor, False)
            wide = _widened(given.graph)
            arrays = {
                port["name"]: _wide(given, port, given.inputs[port["name"]])
                for port in given.graph.entry(given.graph.entries[0])["inputs"]
            }
            wanted = _results(wide, arrays, vendor, True)
        except DiopiError:
            return False
        return any(_apart(made[name], wanted[name], steps) for name in made)

    return fails


def fails_by_command(command: Sequence[str]) -> Callable[[Failing], bool]:
    """Return a function that returns True if a command ends with a nonzero exit code, is terminated
    by a signal, or exceeds the timeout.

    All processes that the command has started are killed when it ends.

    :param command: command to which the graph file and the input file are appended.
    """

    def fails(given: Failing) -> bool:
        with TemporaryDirectory() as folder:
            graph, inputs = Path(folder, "graph.dlg"), Path(folder, "inputs.npz")
            given.graph.save(graph)
            np.savez(inputs, **given.inputs)
            full = [*command, str(graph), str(inputs)]
            try:
                done = run_command(full, seconds=TIMEOUT, merge_errors=True)
            except WorkerError:
                return True
            except OSError as error:
                raise OSError(f"--fails: {command[0]} cannot be started: {error}") from error
            return done.status != 0

    return fails


def _results(graph: ContractGraph, inputs: Arrays, vendor: Vendor, whole: bool) -> dict[str, Any]:
    with Session(graph, vendor, whole=whole) as session:
        given = {name: np.array(array) for name, array in inputs.items()}
        return session.run(graph.entries[0], given)


def _widened(graph: ContractGraph) -> ContractGraph:
    """Return the graph with float64 for float32. Storages of other dtypes may become too large."""
    document = copy.deepcopy(dict(graph.document))
    entry = document["entries"][graph.entries[0]]
    for storage in entry["storages"]:
        storage["bytes"] *= 2
    for value in entry["values"]:
        if value["dtype"] == "float32":
            value["dtype"] = "float64"
        elif value["dtype"] == "uint8" and value["strides"] == [1]:
            value["shape"] = [2 * value["shape"][0]]
    return read(pack(document, {}), graph.name)


def _wide(given: Failing, port: Any, array: Any) -> Any:
    """Return an input of the widened graph, converted from float32."""
    dtype = given.graph.entry(given.graph.entries[0])["values"][port["value"]]["dtype"]
    if dtype == "uint8" and port["name"].startswith("cut"):
        return np.asarray(array).view(np.float32).astype(np.float64).view(np.uint8)
    return np.asarray(array, np.float64) if dtype == "float32" else array


def _apart(made: Any, wanted: Any, steps: float) -> bool:
    if made.dtype != np.float32:
        return not np.array_equal(made, wanted)
    finite = np.isfinite(wanted)
    if not np.array_equal(np.isfinite(made), finite):
        return True
    largest = float(np.abs(wanted[finite]).max(initial=0.0))
    error = np.abs(made[finite].astype(np.float64) - wanted[finite]).max(initial=0.0)
    return bool(error > steps * np.finfo(np.float32).eps * largest)
