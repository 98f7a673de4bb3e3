"""Reduction of a failing graph: results of removed calls become inputs with their values.

Needs no torch. The caller provides the criterion for a failure.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from diopi_proto.errors import DiopiError
from diopi_proto.host.vendor import Vendor
from diopi_proto.schema import load as load_schema
from dl_graph import ContractGraph, Session, read
from dl_graph.errors import GraphError
from dl_graph.file import pack

Arrays = Mapping[str, Any]


@dataclass(frozen=True)
class Failing:
    """Graph with inputs for which it fails."""

    graph: ContractGraph
    inputs: Arrays

    @property
    def calls(self) -> int:
        """Return the number of calls of its entry."""
        return len(self.graph.entry(self.graph.entries[0])["calls"])


def minimize(given: Failing, vendor: Vendor, fails: Callable[[Failing], bool]) -> Failing:
    """Return a minimal failing graph, from which no single call can be removed.

    :param fails: function that returns True if a graph fails with its inputs. It must not raise.
    :raises GraphError: the graph cannot be reduced, or it does not fail.
    """
    document = given.graph.document
    if len(document["entries"]) != 1:
        raise GraphError(
            f"{given.graph.name} has {len(document['entries'])} entries; only a graph with one "
            "entry can be reduced"
        )
    entry = document["entries"][given.graph.entries[0]]
    if entry["symbols"] or document["states"] or document["constants"] or document["generators"]:
        raise GraphError(
            f"{given.graph.name} has symbols, states, constants or generators; only graphs without "
            "these can be reduced, such as those that dl dicp records"
        )
    if not fails(given):
        raise GraphError(f"{given.graph.name} does not fail with these inputs")
    cutter = _Cutter(given, vendor)
    best, kept = given, list(range(len(entry["calls"])))
    size = max(len(kept) // 2, 1)
    while True:
        smaller = None
        for start in reversed(range(0, len(kept), size)):
            fewer = kept[:start] + kept[start + size :]
            made = cutter.cut(fewer) if fewer else None
            if made is not None and fails(made):
                smaller, kept = made, fewer
                break
        if smaller is not None:
            best, size = smaller, min(size, max(len(kept) // 2, 1))
        elif size > 1:
            size //= 2
        else:
            return best


class _Cutter:
    """Builder of graphs from a subset of a graph's calls."""

    def __init__(self, given: Failing, vendor: Vendor) -> None:
        self._given, self._vendor = given, vendor
        self._name = given.graph.entries[0]
        self._entry = given.graph.document["entries"][self._name]
        self._known: dict[tuple[int, int], Any] = {}

    def cut(self, kept: Sequence[int]) -> Failing | None:
        """Return the graph of these calls, or None if it cannot be built."""
        missing = self._missing(kept)
        try:
            inputs = {
                f"cut{storage}": self._value(storage, place) for storage, place in missing.items()
            }
            graph = self._graph(kept, missing)
        except DiopiError:
            return None
        ports = [port["name"] for port in graph.entry(self._name)["inputs"]]
        return Failing(graph, {x: inputs.get(x, self._given.inputs.get(x)) for x in ports})

    def _missing(self, kept: Iterable[int]) -> dict[int, int]:
        """Return the storages that are read before a kept call writes them, with the index of the
        reading call.
        """
        known = {self._entry["values"][x["value"]]["storage"] for x in self._entry["inputs"]}
        found: dict[int, int] = {}
        for place in kept:
            for storage, writes in _uses(self._entry, self._entry["calls"][place]):
                if not writes and storage not in known:
                    found[storage] = place
                    known.add(storage)
            known |= {s for s, writes in _uses(self._entry, self._entry["calls"][place]) if writes}
        return found

    def _value(self, storage: int, place: int) -> Any:
        """Return the bytes of a storage before call number ``place`` of the original graph."""
        if (storage, place) not in self._known:
            graph = self._graph(range(place), {}, [storage])
            with Session(graph, self._vendor, whole=True) as session:
                ports = [port["name"] for port in graph.entry(self._name)["inputs"]]
                given = {x: np.array(self._given.inputs[x]) for x in ports}
                self._known[storage, place] = session.run(self._name, given)["out0"]
        return self._known[storage, place]

    def _graph(
        self, kept: Iterable[int], missing: Mapping[int, int], results: Sequence[int] = ()
    ) -> ContractGraph:
        """Return a graph of these calls with these storages as inputs. Unread results become
        outputs."""
        entry = copy.deepcopy(self._entry)
        calls = [entry["calls"][place] for place in kept]
        uses = [use for call in calls for use in _uses(entry, call)]
        used = {storage for storage, _ in uses} | set(results)
        written = {storage for storage, writes in uses if writes}
        read_ = {storage for storage, writes in uses if not writes}
        inputs = [x for x in entry["inputs"] if entry["values"][x["value"]]["storage"] in used]
        shown = list(results) or sorted(
            written - read_ | {s for s in written if entry["storages"][s]["kind"] == "output"}
        )
        own = {entry["values"][x["value"]]["storage"] for x in inputs}
        outputs = []
        for storage in sorted(used):
            if storage not in own:
                entry["storages"][storage]["kind"] = "input" if storage in missing else "temp"
            whole = {"name": "", "dtype": "uint8", "strides": [1], "offset": 0}
            whole |= {"shape": [entry["storages"][storage]["bytes"]], "storage": storage}
            if storage in missing:
                inputs.append({"name": f"cut{storage}", "value": len(entry["values"])})
                entry["values"].append(whole)
            elif storage in shown and storage not in own:
                entry["storages"][storage]["kind"] = "output"
                outputs.append(self._output(entry, calls, storage, whole, bool(results)))
        entry |= {"calls": calls, "inputs": inputs, "plans": []}
        entry["outputs"] = [{"name": f"out{n}", "value": v} for n, v in enumerate(outputs)]
        _prune(entry)
        schema = load_schema()
        names = {operator for operator, _ in calls}
        document = {
            **self._given.graph.document,
            "contract": {name: f"{schema[name].fingerprint:016x}" for name in names},
            "entries": {self._name: entry},
        }
        return read(pack(document, {}), self._given.graph.name)

    @staticmethod
    def _output(
        entry: Any, calls: Sequence[Any], storage: int, whole: dict[str, Any], bytes_: bool
    ) -> int:
        """Return the index of the value to return: the tensor written last, or the bytes."""
        last = [
            number
            for call in calls
            for number, writes in _numbers(call)
            if writes and entry["values"][number]["storage"] == storage
        ]
        if last and not bytes_:
            return int(last[-1])
        entry["values"].append(whole)
        return len(entry["values"]) - 1


def _numbers(call: Sequence[Any]) -> Iterable[tuple[int, bool]]:
    """Yield the values of a call, with True if it writes them. A value that is read and written is
    yielded twice."""
    operator, arguments = call
    for parameter in load_schema()[operator].params[1:]:
        if "TensorHandle" not in parameter.type:
            continue
        given = arguments.get(parameter.name)
        for number in given if isinstance(given, list) else [given]:
            if number is not None:
                if parameter.direction != "out":
                    yield number, False
                if parameter.direction != "in":
                    yield number, True


def _uses(entry: Mapping[str, Any], call: Sequence[Any]) -> list[tuple[int, bool]]:
    return [(entry["values"][number]["storage"], writes) for number, writes in _numbers(call)]


def _prune(entry: dict[str, Any]) -> None:
    """Remove unused values and storages, and renumber the remaining ones."""
    used = {number for call in entry["calls"] for number, _ in _numbers(call)}
    used |= {port["value"] for port in [*entry["inputs"], *entry["outputs"]]}
    values = {old: new for new, old in enumerate(sorted(used))}
    kept = sorted({entry["values"][old]["storage"] for old in values})
    storages = {old: new for new, old in enumerate(kept)}
    for port in [*entry["inputs"], *entry["outputs"]]:
        port["value"] = values[port["value"]]
    for operator, arguments in entry["calls"]:
        for parameter in load_schema()[operator].params[1:]:
            if "TensorHandle" not in parameter.type or parameter.name not in arguments:
                continue
            given = arguments[parameter.name]
            arguments[parameter.name] = (
                [None if x is None else values[x] for x in given]
                if isinstance(given, list)
                else None
                if given is None
                else values[given]
            )
    entry["values"] = [
        {
            **entry["values"][old],
            "name": f"v{new}",
            "storage": storages[entry["values"][old]["storage"]],
        }
        for old, new in values.items()
    ]
    entry["storages"] = [entry["storages"][old] for old in kept]
