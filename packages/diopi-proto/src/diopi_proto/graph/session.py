"""Graphs that run on a vendor, with numpy arrays going in and out."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Mapping
from typing import Any

import numpy as np

from .._native import native
from ..dtypes import DTYPES, Array, Dtype, dtype_of, to_storage
from ..errors import GraphError, NotSupportedError, OperatorNotBoundError
from ..host.cabi import constants, ffi
from ..host.layout import contiguous_strides, span
from ..host.lifetime import Lifetime
from ..host.streams import Stream
from ..host.structs import CData
from ..host.tableinstance import TableInstance
from ..host.tensor import Tensor
from ..host.vendor import Vendor
from ..schema import load as load_schema
from .expression import evaluate
from .model import ContractGraph, raise_status


class Session:
    """A graph on a device: its constants, its state and its generators. A context manager.

    Runs of one session come one after the other, whichever threads call.

    :param stream: where all is enqueued; None: the default stream.
    :param poison: fill temporaries and outputs with noise before each run, for tests: what is read
        before it was written then shows.
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
        target.flags = constants.DL_CONTRACT_POISON if poison else 0
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


class BoundRun:
    """An entry of a session with its inputs. Made by :meth:`Session.bind`."""

    def __init__(
        self, session: Session, entry: str, inputs: Mapping[str, Any], sizes: Mapping[str, int]
    ) -> None:
        self._session = session
        self._number = session.graph.number(entry)
        self._entry = session.graph.entry(entry)
        self._keep: list[Any] = []
        self._written: list[tuple[Array, Array]] = []
        ports = self._entry["inputs"]
        where = f"{session.graph.name}: entry {entry}"
        self._check(where, inputs, [port["name"] for port in ports], "input")
        self._inputs = ffi.new("dl_contract_tensor_t[]", len(ports) + 1)
        known = dict(sizes)
        for port in ports:
            shape = self._entry["values"][port["value"]]["shape"]
            actual = np.shape(inputs[port["name"]])
            for size, found in zip(shape, actual, strict=False):
                if isinstance(size, str):
                    known.setdefault(size, found)
        for place, port in enumerate(ports):
            value = self._entry["values"][port["value"]]
            try:
                self._fill(self._inputs[place], inputs[port["name"]], value, known)
            except (ValueError, TypeError, KeyError) as error:
                raise GraphError(f"{where}, input {port['name']}: {error}") from error
        self._sizes = ffi.new("dl_contract_size_t[]", len(sizes) + 1)
        for place, (name, number) in enumerate(sizes.items()):
            self._sizes[place].name = session._kept(name)
            self._sizes[place].value = number
        self._counts = (len(ports), len(sizes), len(self._entry["outputs"]))
        self._outputs = ffi.new("dl_contract_tensor_t[]", self._counts[2] + 1)
        self._run = native().dl_contract_session_run

    def run(self) -> None:
        """Enqueue the entry; on a synchronous vendor it has then run.

        :raises GraphError: an operator failed.
        """
        inputs, sizes, outputs = self._counts
        session = self._session
        with session._lock:
            raise_status(
                self._run(
                    session._open(),
                    self._number,
                    self._inputs,
                    inputs,
                    self._sizes,
                    sizes,
                    self._outputs,
                    outputs,
                )
            )
            for array, buffer in self._written:
                array[...] = buffer

    def outputs(self) -> dict[str, Array]:
        """Wait, and copy the outputs of the session's last run, which must have been this one."""
        found = {}
        with self._session._lock:
            self._session.synchronize()
            for place, port in enumerate(self._entry["outputs"]):
                found[port["name"]] = self._array(self._outputs + place)
        return found

    def _array(self, tensor: CData) -> Array:
        dtype = dtype_of(int(tensor.dtype))
        shape = tuple(ffi.unpack(tensor.sizes, tensor.ndim)) if tensor.ndim else ()
        strides = ffi.unpack(tensor.strides, tensor.ndim) if tensor.ndim else []
        if tensor.bytes == 0:
            return np.empty(shape, dtype.storage)
        content = self._session._read(tensor)
        steps = tuple(step * dtype.itemsize for step in strides)
        return np.ndarray(shape, dtype.storage, content.data, strides=steps).copy()

    @staticmethod
    def _check(where: str, given: Mapping[str, Any], wanted: list[str], what: str) -> None:
        missing = [name for name in wanted if name not in given]
        unknown = [name for name in given if name not in wanted]
        if missing or unknown:
            raise GraphError(
                f"{where} has the {what}s {', '.join(wanted) or 'none'}: "
                + "; ".join(
                    filter(
                        None,
                        (
                            f"{', '.join(missing)} missing" if missing else "",
                            f"{', '.join(unknown)} unknown" if unknown else "",
                        ),
                    )
                )
            )

    def _fill(
        self, tensor: CData, given: Any, value: Mapping[str, Any], sizes: Mapping[str, int]
    ) -> None:
        dtype = DTYPES[value["dtype"]]
        if isinstance(given, Tensor):
            self._fill_device(tensor, given, dtype)
            return
        array = to_storage(np.asarray(given), dtype)
        if array.ndim != len(value["shape"]):
            raise ValueError(f"it has {array.ndim} dimensions, not {len(value['shape'])}")
        strides = tuple(evaluate(step, sizes) for step in value["strides"])
        buffer = self._laid_out(array, strides, dtype)
        if buffer is not given and isinstance(given, np.ndarray) and self._writes(value["storage"]):
            if given.dtype != dtype.storage:
                raise ValueError(f"the graph writes to it: pass it as {dtype}, not {given.dtype}")
            self._written.append((given, buffer))
        self._keep += [given, buffer]
        tensor.data = ffi.cast("void*", buffer.ctypes.data)
        tensor.bytes = span(array.shape, strides) * dtype.itemsize
        self._describe(tensor, array.shape, dtype)
        tensor.device = constants.diopi_host

    @staticmethod
    def _laid_out(array: Array, strides: tuple[int, ...], dtype: Dtype) -> Array:
        """The array, or a copy of it that lies in memory as the graph has it."""
        if strides == contiguous_strides(array.shape):
            return np.require(array, requirements=["C", "A", "W"])
        memory = np.zeros(span(array.shape, strides), dtype.storage)
        steps = tuple(step * dtype.itemsize for step in strides)
        view = np.ndarray(array.shape, dtype.storage, memory.data, strides=steps)
        view[...] = array
        return view

    def _fill_device(self, tensor: CData, given: Tensor, dtype: Dtype) -> None:
        if given.storage.instance is not self._session._instance or given.dtype != dtype:
            raise ValueError(f"it has to be a {dtype} tensor of the session's vendor")
        if not given.is_contiguous or given.is_sparse:
            raise ValueError("a tensor has to be contiguous; copy it")
        self._keep.append(given)
        tensor.data = ffi.cast("void*", given.address)
        tensor.bytes = given.size * dtype.itemsize
        self._describe(tensor, given.shape, dtype)
        host = given.device is None
        tensor.device = constants.diopi_host if host else constants.diopi_device

    def _describe(self, tensor: CData, shape: tuple[int, ...], dtype: Dtype) -> None:
        sizes = ffi.new("int64_t[]", [*shape, 0])
        self._keep.append(sizes)
        tensor.struct_size = ffi.sizeof("dl_contract_tensor_t")
        tensor.sizes, tensor.ndim, tensor.dtype = sizes, len(shape), dtype.number

    def _writes(self, storage: int) -> bool:
        """Whether a call writes to a storage."""
        schema, values = load_schema(), self._entry["values"]
        for operator, arguments in self._entry["calls"]:
            for parameter in schema[operator].params[1:]:
                if parameter.direction == "in" or "TensorHandle" not in parameter.type:
                    continue
                given = arguments.get(parameter.name)
                for index in given if isinstance(given, list) else [given]:
                    if index is not None and values[index]["storage"] == storage:
                        return True
        return False


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
