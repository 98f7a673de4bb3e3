"""Builder of graphs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from diopi_proto.dtypes import Array, Dtype, dtype_of, to_storage
from diopi_proto.schema import load as load_schema

from .arguments import argument_json
from .expression import Expression, Json, Size, as_json, combine
from .file import ConstantTensor, pack
from .model import ContractGraph, read
from .value import Shared, Value, contiguous_strides


class EntryBuilder:
    """Builder of one entry of a graph, created by :meth:`GraphBuilder.entry`."""

    def __init__(self, graph: GraphBuilder, name: str) -> None:
        self._graph = graph
        self.name = name
        self._symbols: list[dict[str, Json]] = []
        self._guards: list[Json] = []
        self._storages: list[dict[str, Json]] = []
        self._values: list[Value] = []
        self._inputs: list[dict[str, Json]] = []
        self._outputs: list[dict[str, Json]] = []
        self._calls: list[Json] = []
        self._shared: dict[str, int] = {}

    def symbol(self, name: str, minimum: int, maximum: int) -> Expression:
        """Return a size that is known only when the graph runs.

        Its value is taken from an input that has it as a size; without such an input, the caller
        passes the value.

        :param minimum: smallest size that the graph serves.
        :param maximum: largest size that the graph serves.
        """
        self._symbols.append({"name": name, "min": minimum, "max": maximum})
        return Expression(name)

    def guard(self, left: Size, relation: str, right: Size) -> None:
        """Add a condition that each run must satisfy: ``==``, ``<=`` or ``<``."""
        self._guards.append([relation, as_json(left), as_json(right)])

    def input(self, name: str, shape: Sequence[Size], dtype: npt.DTypeLike | Dtype) -> Value:
        """Return a contiguous tensor that the caller passes."""
        value = self._new("input", shape, dtype, name)
        self._inputs.append({"name": name, "value": value.index})
        return value

    def empty(
        self, shape: Sequence[Size], dtype: npt.DTypeLike | Dtype = "float32", name: str = ""
    ) -> Value:
        """Return an uninitialized tensor: a temporary, or an output after :meth:`output`."""
        return self._new("temp", shape, dtype, name)

    def use(self, shared: Shared) -> Value:
        """Return a constant or state as a value of this entry."""
        key = f"{shared.kind} {shared.name}"
        if key not in self._shared:
            self._shared[key] = len(self._storages)
            self._storages.append({"kind": shared.kind, "name": shared.name})
        strides = contiguous_strides(shared.shape)
        return Value(self, self._shared[key], shared.dtype, shared.shape, strides, 0, shared.name)

    def output(self, name: str, value: Value) -> None:
        """Make a value an output. It may share memory with an input, a state or another output."""
        storage = self._storages[value.storage]
        if storage["kind"] == "temp":
            storage["kind"] = "output"
        self._outputs.append({"name": name, "value": value.index})

    def call(self, operator: str, *positional: Any, **named: Any) -> None:
        """Add a call with the arguments of ``vendor.op``, in which tensors are values.

        :param operator: ``"diopiAdd"``, or ``"Add"`` for short.
        :raises ArgumentError: an argument is missing, unknown or of the wrong type.
        :raises GraphError: a graph cannot contain the operator.
        """
        full = operator if operator in load_schema() else f"diopi{operator}"
        self._calls.append([full, argument_json(full, positional, named)])

    def _new(
        self, kind: str, shape: Sequence[Size], dtype: npt.DTypeLike | Dtype, name: str
    ) -> Value:
        found = dtype_of(dtype)
        count: Size = found.itemsize
        for size in shape:
            count = combine("*", count, size)
        self._storages.append({"kind": kind, "bytes": as_json(count)})
        storage = len(self._storages) - 1
        return Value(self, storage, found, shape, contiguous_strides(shape), 0, name)

    def _add_value(self, value: Value) -> int:
        self._values.append(value)
        value.name = value.name or f"v{len(self._values) - 1}"
        return len(self._values) - 1

    def _operators(self) -> set[str]:
        return {call[0] for call in self._calls}

    def _document(self) -> dict[str, Json]:
        return {
            "symbols": self._symbols,
            "guards": self._guards,
            "storages": self._storages,
            "values": [
                {
                    "name": value.name,
                    "dtype": value.dtype.name,
                    "shape": [as_json(s) for s in value.shape],
                    "strides": [as_json(s) for s in value.strides],
                    "storage": value.storage,
                    "offset": as_json(value.offset),
                }
                for value in self._values
            ],
            "inputs": self._inputs,
            "outputs": self._outputs,
            "calls": self._calls,
            "plans": [],
        }


class GraphBuilder:
    """Builder of a graph; :meth:`build` verifies it."""

    def __init__(self) -> None:
        self._constants: dict[str, ConstantTensor] = {}
        self._states: list[dict[str, Json]] = []
        self._generators: list[str] = []
        self._entries: dict[str, EntryBuilder] = {}

    def constant(
        self, name: str, array: npt.ArrayLike, dtype: npt.DTypeLike | Dtype | None = None
    ) -> Shared:
        """Add a tensor that is stored in the file and never written."""
        given: Array = np.asarray(array)
        found = dtype_of(given.dtype if dtype is None else dtype)
        stored = np.ascontiguousarray(to_storage(given, found)).reshape(given.shape)
        self._constants[name] = ConstantTensor(found, stored)
        return Shared("constant", name, found, stored.shape)

    def state(
        self,
        name: str,
        shape: Sequence[int],
        dtype: npt.DTypeLike | Dtype = "float32",
        initial: Shared | None = None,
    ) -> Shared:
        """Add a tensor that calls may write and that persists between runs of a session.

        :param initial: a constant of the same size in bytes with the initial contents; None for
            zeros.
        """
        found = dtype_of(dtype)
        self._states.append(
            {
                "name": name,
                "bytes": math.prod(shape) * found.itemsize,
                "initial": None if initial is None else initial.name,
            }
        )
        return Shared("state", name, found, tuple(shape))

    def generator(self, name: str) -> str:
        """Add a random number generator, whose seed and offset belong to the session."""
        self._generators.append(name)
        return name

    def entry(self, name: str) -> EntryBuilder:
        """Add a function to the graph; all entries share constants, state and generators."""
        self._entries[name] = EntryBuilder(self, name)
        return self._entries[name]

    def document(self) -> dict[str, Any]:
        """Return the content of the file, apart from the constants' elements."""
        used = {name for entry in self._entries.values() for name in entry._operators()}
        schema = load_schema()
        return {
            "dlg": 1,
            "contract": {name: f"{schema[name].fingerprint:016x}" for name in used},
            "generators": self._generators,
            "constants": sorted(self._constants, key=str.encode),
            "states": self._states,
            "entries": {name: entry._document() for name, entry in self._entries.items()},
        }

    @property
    def constants(self) -> Mapping[str, ConstantTensor]:
        """Return the constants by name."""
        return dict(self._constants)

    def build(self, name: str = "a graph") -> ContractGraph:
        """Return the verified graph.

        :param name: name of the graph in messages.
        :raises GraphError: the graph is invalid; the message has the location and the remedy.
        """
        return read(pack(self.document(), self._constants), name)
