"""Entry of a session that is bound to its inputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from diopi_proto.dtypes import DTYPES, Array, Dtype, dtype_of
from diopi_proto.host.layout import contiguous_strides, span
from diopi_proto.host.structs import CData
from diopi_proto.host.tensor import Tensor
from diopi_proto.schema import load as load_schema

from .conversion import convert_array
from .errors import GraphError
from .expression import evaluate
from .model import raise_status
from .native import constants, ffi, native
from .open_session import OpenSession


class BoundRun:
    """Entry of a session with its inputs, created by :meth:`Session.bind`."""

    def __init__(
        self, session: OpenSession, entry: str, inputs: Mapping[str, Any], sizes: Mapping[str, int]
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
            self._sizes[place].name = session.keep_name(name)
            self._sizes[place].value = number
        self._counts = (len(ports), len(sizes), len(self._entry["outputs"]))
        self._outputs = ffi.new("dl_contract_tensor_t[]", self._counts[2] + 1)
        self._run = native().dl_contract_session_run

    def run(self) -> None:
        """Enqueue the entry; on a synchronous vendor it has completed on return.

        :raises GraphError: an operator failed.
        """
        inputs, sizes, outputs = self._counts
        session = self._session
        with session.lock:
            raise_status(
                self._run(
                    session.handle(),
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
        """Wait, and return copies of the outputs. The session's last run must be of this object."""
        found = {}
        with self._session.lock:
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
        content = self._session.read(tensor)
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
        array = convert_array(given, dtype)
        if array.ndim != len(value["shape"]):
            raise ValueError(f"it has {array.ndim} dimensions, not {len(value['shape'])}")
        strides = tuple(evaluate(step, sizes) for step in value["strides"])
        buffer = self._copy_to_layout(array, strides, dtype)
        if buffer is not given and isinstance(given, np.ndarray) and self._writes(value["storage"]):
            if given.dtype != dtype.storage:
                raise ValueError(f"the graph writes to it: pass {dtype}, not {given.dtype}")
            self._written.append((given, buffer))
        self._keep += [given, buffer]
        tensor.data = ffi.cast("void*", buffer.ctypes.data)
        tensor.bytes = span(array.shape, strides) * dtype.itemsize
        self._describe(tensor, array.shape, dtype)
        tensor.device = constants.diopi_host

    @staticmethod
    def _copy_to_layout(array: Array, strides: tuple[int, ...], dtype: Dtype) -> Array:
        """Return the array, or a copy with the strides of the graph."""
        if strides == contiguous_strides(array.shape):
            return np.require(array, requirements=["C", "A", "W"])
        memory = np.zeros(span(array.shape, strides), dtype.storage)
        steps = tuple(step * dtype.itemsize for step in strides)
        view = np.ndarray(array.shape, dtype.storage, memory.data, strides=steps)
        view[...] = array
        return view

    def _fill_device(self, tensor: CData, given: Tensor, dtype: Dtype) -> None:
        if given.storage.instance is not self._session.instance or given.dtype != dtype:
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
        """Return True if a call writes to a storage."""
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
