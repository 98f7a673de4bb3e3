"""Conversion of consecutive lowered operators to one contract graph."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from diopi_proto.dtypes import DTYPES
from diopi_proto.schema import load as load_schema
from dl_dicp.recording.calls import GENERATOR, Call
from dl_dicp.recording.memory import Block, Ref
from dl_graph.expression import Expression, Size, as_json, combine, text
from dl_graph.file import canonical, pack

ENTRY = "main"


@dataclass(frozen=True)
class Scope:
    """Sizes that a graph serves.

    :ivar ranges: the smallest and the largest size of each symbol.
    :ivar guards: conditions on the symbols: ``[sign, a, b]`` as in the graph file.
    """

    ranges: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    guards: Sequence[Any] = ()

    def symbols(self) -> list[dict[str, Any]]:
        """Return the ranges of the symbols in the form of the graph file."""
        return [{"name": n, "min": a, "max": b} for n, (a, b) in self.ranges.items()]

    def text(self) -> str:
        """Describe the sizes: ``rows from 2 to 16, where 2 <= rows - 1``; empty if fixed."""
        ranges = ", ".join(f"{name} from {a} to {b}" for name, (a, b) in self.ranges.items())
        guards = ", ".join(f"{text(a)} {sign} {text(b)}" for sign, a, b in self.guards)
        return f"{ranges}, where {guards}" if guards else ranges


FIXED = Scope()
"""Scope of a graph with fixed sizes."""


@dataclass
class Region:
    """Contract graph with its inputs and outputs.

    :ivar inputs: blocks from before the graph that it reads or writes.
    :ivar made: blocks that the graph creates and that are used after it.
    :ivar written: the inputs that the graph writes.
    :ivar document: the graph with ``made`` as outputs, which is verified, shown and hashed.
    """

    calls: list[Call]
    inputs: list[Block]
    made: list[Block]
    written: set[Block]
    document: dict[str, Any]

    @property
    def text(self) -> str:
        """Return the canonical JSON of the graph: equal graphs have equal text."""
        return canonical(self.document)

    @property
    def is_random(self) -> bool:
        """Return True if the graph draws from the default generator."""
        return bool(self.document["generators"])

    def verified(self) -> bytes:
        """Return the graph file for the verifier, which checks that every output is written."""
        return pack(self.document, {})

    def runnable(self) -> bytes:
        """Return the graph file for execution, in which the caller passes the memory of the outputs
        as inputs.
        """
        document = copy.deepcopy(self.document)
        entry = document["entries"][ENTRY]
        entry["outputs"] = []
        for place, storage in enumerate(entry["storages"]):
            if storage["kind"] != "output":
                continue
            storage["kind"] = "input"
            number = len(entry["values"])
            whole = _value(f"v{number}", "uint8", (), (1,), place, 0)
            entry["values"].append({**whole, "shape": [storage["bytes"]]})
            entry["inputs"].append({"name": f"made{place}", "value": number})
        return pack(document, {})


class EntryWriter:
    """Builder of an entry from calls on blocks.

    :param given: function that returns True if a block exists before the entry runs, so that it
        becomes an input.
    :param results: blocks that the entry creates and that are used after it.
    """

    def __init__(
        self, given: Callable[[Block], bool], results: set[Block], scope: Scope = FIXED
    ) -> None:
        self._given = given
        self._results = results
        self._values: dict[Ref, int] = {}
        self.inputs: list[Block] = []
        self.made: list[Block] = []
        self.storages: dict[Block, int] = {}
        self.operators: set[str] = set()
        self.generators: set[str] = set()
        self.entry: dict[str, Any] = {
            "symbols": scope.symbols(),
            "guards": list(scope.guards),
            "storages": [],
            "values": [],
            "inputs": [],
            "outputs": [],
            "calls": [],
            "plans": [],
        }

    def storage(self, block: Block) -> int:
        """Return the index of a block's storage."""
        if block in self.storages:
            return self.storages[block]
        self.storages[block] = len(self.entry["storages"])
        given = self._given(block)
        kind = "input" if given else "output" if block in self._results else "temp"
        self.entry["storages"].append({"kind": kind, "bytes": as_json(block.size)})
        if given:
            whole = block.given or Ref(block, "uint8", (block.size,), (1,), 0)
            port = {"name": f"x{len(self.inputs)}", "value": self.value(whole)}
            self.entry["inputs"].append(port)
            self.inputs.append(block)
        elif block in self._results:
            self.made.append(block)
        return self.storages[block]

    def value(self, ref: Ref) -> int:
        """Return the index of a tensor's value."""
        place = self.storage(ref.block)
        if ref not in self._values:
            number = self._values[ref] = len(self.entry["values"])
            offset = elements(ref.offset, ref.dtype)
            self.entry["values"].append(
                _value(f"v{number}", ref.dtype, ref.shape, ref.strides, place, offset)
            )
        return self._values[ref]

    def call(self, call: Call) -> None:
        """Add a call."""
        self.operators.add(call.operator)
        if GENERATOR in call.arguments.values():
            self.generators.add(GENERATOR)
        arguments = {name: self._argument(given) for name, given in call.arguments.items()}
        self.entry["calls"].append([call.operator, arguments])

    def output(self, name: str, ref: Ref) -> None:
        """Add a tensor to the results."""
        self.entry["outputs"].append({"name": name, "value": self.value(ref)})

    def document(self) -> dict[str, Any]:
        """Return the graph with only this entry."""
        schema = load_schema()
        return {
            "dlg": 1,
            "contract": {name: f"{schema[name].fingerprint:016x}" for name in self.operators},
            "generators": sorted(self.generators),
            "constants": [],
            "states": [],
            "entries": {ENTRY: self.entry},
        }

    def _argument(self, given: Any) -> Any:
        if isinstance(given, Ref):
            return self.value(given)
        if isinstance(given, list):
            return [self._argument(each) for each in given]
        if isinstance(given, dict):
            return {name: self._argument(each) for name, each in given.items()}
        return as_json(given) if isinstance(given, Expression) else given


def elements(offset: Size, dtype: str) -> Size:
    """Convert an offset from bytes to elements, which must be exact."""
    return combine("//", offset, DTYPES[dtype].itemsize)


def build(
    calls: list[Call], earlier: set[Block], kept: Iterable[Ref], scope: Scope = FIXED
) -> Region:
    """Build a graph of calls.

    :param earlier: blocks that were created before the calls.
    :param kept: tensors that are used after the calls.
    """
    kept = dict.fromkeys(ref for ref in kept if ref.block not in earlier)
    writer = EntryWriter(earlier.__contains__, {ref.block for ref in kept}, scope)
    for call in calls:
        writer.call(call)
    for ref in kept:
        if ref.block in writer.storages:
            writer.output(f"y{len(writer.entry['outputs'])}", ref)
    written = {ref.block for call in calls for ref, writes in call.uses() if writes} & earlier
    return Region(calls, writer.inputs, writer.made, written, writer.document())


def _value(
    name: str,
    dtype: str,
    shape: Sequence[Size],
    strides: Sequence[Size],
    storage: int,
    offset: Size,
) -> dict[str, Any]:
    return {
        "name": name,
        "dtype": dtype,
        "shape": [as_json(size) for size in shape],
        "strides": [as_json(stride) for stride in strides],
        "storage": storage,
        "offset": as_json(offset),
    }
