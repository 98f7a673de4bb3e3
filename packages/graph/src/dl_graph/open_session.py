"""Graphs that are open on a vendor's device."""

from __future__ import annotations

import threading
import weakref

import numpy as np

from diopi_proto.dtypes import Array
from diopi_proto.errors import NotSupportedError, OperatorNotBoundError
from diopi_proto.host.lifetime import Lifetime
from diopi_proto.host.streams import Stream
from diopi_proto.host.structs import CData
from diopi_proto.host.tableinstance import TableInstance
from diopi_proto.host.vendor import Vendor
from diopi_proto.schema import load as load_schema

from .errors import GraphError
from .model import ContractGraph, raise_status
from .native import constants, ffi, native


class OpenSession:
    """Graph on a device: its constants, its states and its generators.

    It has the parameters of :class:`~dl_graph.session.Session`.

    :ivar graph: the graph.
    :ivar instance: the vendor's instance.
    :ivar lock: held during calls of the executor.
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
                f"vendor {vendor.name} is a library in DIOPI's own style, which cannot run graphs",
                code=constants.DL_NOT_SUPPORTED,
                operation="graph",
                vendor=vendor.name,
            )
        self.graph = graph
        self.instance = instance
        self._stream = stream
        self.lock = threading.RLock()
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

    def synchronize(self) -> None:
        """Wait for all runs.

        :raises GraphError: a run found an error in its data.
        """
        with self.lock:
            raise_status(native().dl_contract_session_synchronize(self.handle()))

    def close(self) -> None:
        """Wait for enqueued work, and free the memory. A second call has no effect."""
        with self.lock:
            self._end()

    def __exit__(self, *exception: object) -> None:
        self.close()

    def handle(self) -> CData:
        if not self._end.alive:
            raise GraphError(f"{self.graph.name}: the session was closed; open another session")
        self.instance.lifetime.check_open()
        return self._handle

    def read(self, tensor: CData) -> Array:
        content = np.empty(int(tensor.bytes), np.uint8)
        if content.size:
            memory = ffi.cast("void*", content.ctypes.data)
            raise_status(
                native().dl_contract_session_read(self.handle(), tensor, memory, content.size)
            )
        return content

    def keep_name(self, name: str) -> CData:
        return self._names.setdefault(name, ffi.new("char[]", name.encode()))


def _operators(instance: TableInstance, graph: ContractGraph) -> CData:
    """Return the vendor's functions for the operators that the graph calls, and a terminator."""
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
    """Return a name as a C string. Names stay allocated; the contract bounds their number."""
    return _NAMES.setdefault(name, ffi.new("char[]", name.encode()))


def _close(handle: CData, lifetime: Lifetime, kept: object) -> None:
    lifetime.drop(lambda: native().dl_contract_session_close(handle))
