"""Graphs that run on a vendor, with numpy arrays going in and out."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Mapping
from typing import Any

import numpy as np

from diopi_proto.dtypes import Array
from diopi_proto.errors import NotSupportedError, OperatorNotBoundError
from diopi_proto.host.lifetime import Lifetime
from diopi_proto.host.streams import Stream
from diopi_proto.host.structs import CData
from diopi_proto.host.tableinstance import TableInstance
from diopi_proto.host.vendor import Vendor
from diopi_proto.schema import load as load_schema

from .bound import BoundRun
from .errors import GraphError
from .model import ContractGraph, raise_status
from .native import constants, ffi, native


class Session:
    """A graph on a device: its constants, its state and its generators. A context manager.

    Runs of one session come one after the other, whichever threads call.

    :param stream: where all is enqueued; None: the default stream.
    :param poison: fill temporaries and outputs with noise before each run, for tests: what is read
        before it was written then shows.
    :param whole: run every call as a whole, and none block by block.
    :param blocks: run every call block by block that can be, faster or not, for tests.
    :raises OperatorNotBoundError: the vendor has an operator with another signature.
    :raises GraphError: the vendor lacks an operator or a slot that the graph needs.
    """

    def __init__(
        self,
        graph: ContractGraph,
        vendor: Vendor,
        *,
        device: int = 0,
        stream: Stream | None = None,
        poison: bool = False,
        whole: bool = False,
        blocks: bool = False,
    ) -> None:
        instance = vendor._instance
        if not isinstance(instance, TableInstance):
            raise NotSupportedError(
                f"vendor {vendor.name} is a library in DIOPI's own style, which runs no graphs",
                code=constants.DL_NOT_SUPPORTED,
                operation="graph",
                vendor=vendor.name,
            )
        self.graph = graph
        self._instance = instance
        self._stream = stream
        self._lock = threading.RLock()
        self._device = instance.check_device(device, "Session")
        self._names: dict[str, CData] = {}
        self._states: dict[str, int] = {s["name"]: s["bytes"] for s in graph.document["states"]}
        target = ffi.new("dl_contract_target_t*")
        target.struct_size = ffi.sizeof("dl_contract_target_t")
        target.host = instance.host.pointer
        target.vendor = instance.handle
        target.checked = instance.slots._instance
        operators = _operators(instance, graph)
        target.operators, target.operator_count = operators, len(operators) - 1
        target.device = self._device
        if stream is not None:
            target.stream = stream.pointer_for(instance, self._device)
        flags = {"POISON": poison, "WHOLE": whole, "BLOCKS": blocks}
        target.flags = sum(
            getattr(constants, f"DL_CONTRACT_{name}") for name, wanted in flags.items() if wanted
        )
        out = ffi.new("dl_contract_session_t**")
        instance.lifetime.hold()
        try:
            raise_status(native().dl_contract_session_open(graph.handle, target, out))
        except BaseException:
            instance.lifetime.drop()
            raise
        self._handle: CData = out[0]
        self._end = weakref.finalize(self, _close, out[0], instance.lifetime, (graph, stream))
        self._end.atexit = False

    def run(
        self,
        entry: str,
        inputs: Mapping[str, Any],
        sizes: Mapping[str, int] | None = None,
    ) -> dict[str, Array]:
        """Run an entry and wait for it.

        :param inputs: arrays, or tensors of this vendor, by name. An array is converted to the
            input's dtype; where the graph writes to an input, it has that dtype and is changed.
        :param sizes: of the symbols that no input has.
        :returns: the outputs by name, as numpy stores their dtypes.
        :raises GraphError: an input does not fit, a guard does not hold, or an operator failed.
        """
        bound = self.bind(entry, inputs, sizes)
        with self._lock:
            bound.run()
            return bound.outputs()

    def bind(
        self,
        entry: str,
        inputs: Mapping[str, Any],
        sizes: Mapping[str, int] | None = None,
    ) -> BoundRun:
        """An entry with its inputs, to be run many times. Arrays are copied only where they must
        be converted.

        :raises GraphError: an input is missing or does not fit.
        """
        return BoundRun(self, entry, inputs, sizes or {})

    def synchronize(self) -> None:
        """Wait for all runs.

        :raises GraphError: a run found an error in its data.
        """
        with self._lock:
            raise_status(native().dl_contract_session_synchronize(self._open()))

    def reset(self) -> None:
        """Let all states begin anew."""
        with self._lock:
            raise_status(native().dl_contract_session_reset(self._open()))

    def state(self, name: str) -> Array:
        """A copy of a state as bytes, to be viewed as its dtype.

        :raises GraphError: there is none of that name.
        """
        tensor = ffi.new("dl_contract_tensor_t*")
        with self._lock:
            raise_status(native().dl_contract_session_state(self._open(), name.encode(), tensor))
            return self._read(tensor)

    def seed(self, name: str, seed: int, offset: int = 0) -> None:
        """Set the seed and the offset of a generator, from 0 to 2**64 - 1.

        :raises GraphError: there is none of that name.
        """
        generator = self._generator(name)
        generator.seed, generator.offset = seed, offset

    def offset(self, name: str) -> int:
        """How many steps of a generator are consumed."""
        return int(self._generator(name).offset)

    def close(self) -> None:
        """Wait for what was enqueued, and free the memory. Twice does nothing."""
        with self._lock:
            self._end()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _open(self) -> CData:
        if not self._end.alive:
            raise GraphError(f"{self.graph.name}: the session was closed; open another one")
        self._instance.lifetime.check_open()
        return self._handle

    def _generator(self, name: str) -> CData:
        out = ffi.new("dl_generator_prefix_t**")
        with self._lock:
            raise_status(native().dl_contract_session_generator(self._open(), name.encode(), out))
        return out[0]

    def _read(self, tensor: CData) -> Array:
        content = np.empty(int(tensor.bytes), np.uint8)
        if content.size:
            memory = ffi.cast("void*", content.ctypes.data)
            raise_status(
                native().dl_contract_session_read(self._open(), tensor, memory, content.size)
            )
        return content

    def _kept(self, name: str) -> CData:
        return self._names.setdefault(name, ffi.new("char[]", name.encode()))


def _operators(instance: TableInstance, graph: ContractGraph) -> CData:
    """The vendor's functions for what the graph calls, and an empty one behind them."""
    schema = load_schema()
    found = []
    for name in graph.document["contract"]:
        if name in instance.mismatched:
            raise OperatorNotBoundError(
                f"{graph.name}: [{name}] {instance.mismatched[name]}",
                code=constants.diopiNoImplement,
                operator=name,
                vendor=instance.name,
            )
        function = instance.function(schema[name])
        if function is not None:
            found.append((name, schema[name].fingerprint, function))
    table = ffi.new("dl_operator_t[]", len(found) + 1)
    for place, (name, number, function) in enumerate(found):
        table[place].name = _name(name)
        table[place].fingerprint = number
        table[place].function = function
    return table


_NAMES: dict[str, CData] = {}


def _name(name: str) -> CData:
    """A name in C, kept for good: there are no more than the contract has operators."""
    return _NAMES.setdefault(name, ffi.new("char[]", name.encode()))


def _close(handle: CData, lifetime: Lifetime, kept: object) -> None:
    lifetime.drop(lambda: native().dl_contract_session_close(handle))
