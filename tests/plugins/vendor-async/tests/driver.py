"""A minimal host that calls the bare slots. It adds no waits and no checks, so that tests observe
the bare vendor.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from diopi_proto import ffi
from dl_vendor_async_test.control import Control
from dl_vendor_async_test.plugin import dl_vendor

# Guards against a hang, far above what any test needs.
TIMEOUT_SECONDS = 120

INVALID_ARGUMENT, OUT_OF_MEMORY, UNAVAILABLE = 2, 3, 5
TO_DEVICE, TO_HOST, ON_DEVICE = 0, 1, 2
TIMING = 1
SUCCESS, ERROR_OCCURRED, DTYPE_NOT_SUPPORTED = 0, 1, 1000

DTYPES = {
    "int8": 0,
    "uint8": 1,
    "int16": 2,
    "int32": 4,
    "int64": 6,
    "float16": 8,
    "float32": 9,
    "float64": 10,
    "bool": 11,
}
_NAMES = {number: name for name, number in DTYPES.items()}

_CTX, _OUT, _IN = "diopiContextHandle_t", "diopiTensorHandle_t", "diopiConstTensorHandle_t"
_SCALAR = "const diopiScalar_t*"
_PARAMETERS = {
    (_OUT, _IN): "Neg Exp Relu Sigmoid Tanh CastDtype Erfinv",
    (_OUT,): "ErfinvInp",
    (_OUT, _IN, _IN): "Mul Eq Gt Mm Polar",
    (_OUT, _IN, _IN, _SCALAR): "Add Sub ThresholdBackward",
    (_OUT, _IN, _SCALAR, _SCALAR): "AddScalar SubScalar",
    (_OUT, _IN, _SCALAR): "MulScalar EqScalar GtScalar",
    (_OUT, _IN, _IN, "diopiRoundMode_t"): "Div",
    (_OUT, _IN, _SCALAR, "diopiRoundMode_t"): "DivScalar",
    (_OUT, _SCALAR): "Fill",
    (_IN, _OUT): "CopyInp",
    (_OUT, _IN, "diopiSize_t"): "Sum",
    (_OUT, _IN, "int64_t"): "Softmax",
    (_OUT, _IN, "int64_t", _IN): "IndexSelect",
    (_OUT, _SCALAR, _SCALAR): "AddInpScalar",
    ("diopiTensorHandle_t*", _IN, _IN): "MaskedSelect",
    ("diopiTensorHandle_t*", _IN): "Nonzero",
}
SIGNATURES = {
    f"diopi{name}": f"diopiError_t(*)({', '.join((_CTX, *types))})"
    for types, names in _PARAMETERS.items()
    for name in names.split()
}


class StatusError(Exception):
    """A slot returned an error status."""

    def __init__(self, slot: str, code: int, message: str) -> None:
        super().__init__(f"[{slot}] {message}")
        self.code = code
        self.message = message


def check(slot: str, status: Any) -> None:
    if status == ffi.NULL:
        return
    code, message = status.code, ffi.string(status.message).decode()
    status.release(status)
    raise StatusError(slot, code, message)


def scalar(value: float) -> Any:
    result = ffi.new("diopiScalar_t*")
    if isinstance(value, float):
        result.stype, result.fval = DTYPES["float64"], value
    else:
        result.stype, result.ival = DTYPES["int64"], value
    return result


class Tensor:
    """A handle and its data; contiguous unless strides (in elements) are given."""

    def __init__(
        self,
        address: int,
        shape: Sequence[int],
        dtype: str,
        strides: Sequence[int] | None = None,
        device: int = 0,
    ) -> None:
        self.address, self.shape, self.dtype = address, tuple(shape), dtype
        if strides is None:
            strides = [prod(self.shape[dim + 1 :]) for dim in range(len(self.shape))]
        self.sizes = ffi.new("int64_t[]", list(shape) or [0])
        self.strides = ffi.new("int64_t[]", list(strides) or [0])
        self.prefix = ffi.new("dl_tensor_prefix_t*")
        self.prefix.magic, self.prefix.version = 0x54696C64, 1
        self.prefix.data = self.prefix.storage = ffi.cast("void*", address)
        self.prefix.sizes, self.prefix.strides = self.sizes, self.strides
        self.prefix.ndim, self.prefix.numel = len(self.shape), prod(self.shape)
        self.prefix.dtype, self.prefix.device, self.prefix.device_index = DTYPES[dtype], 1, device
        self.handle = ffi.cast("diopiTensorHandle_t", self.prefix)


# All other slots take a device first.
WITHOUT_DEVICE = {"present", "device_count", "host_allocate", "host_free", "operators"}


class Driver:
    """One instance of the vendor."""

    def __init__(self) -> None:
        self._library = ffi.dlopen(str(dl_vendor().library))
        self._host = ffi.new("dl_host_t*", {"struct_size": ffi.sizeof("dl_host_t")})
        out = ffi.new("dl_vendor_t**")
        check("dl_vendor_v1", self._library.dl_vendor_v1(self._host, out))
        self.instance = out[0]
        self.table = self.instance.table
        self.control = Control(int(ffi.cast("uintptr_t", self.instance)))
        self.required: list[Tensor] = []
        self._require = ffi.callback(
            "diopiError_t(diopiContextHandle_t, diopiTensorHandle_t*, const diopiSize_t*,"
            " const diopiSize_t*, diopiDtype_t, diopiDevice_t)",
            self._require_tensor,
        )
        self._handle_ops = ffi.new("dl_handle_ops_t*")
        self._handle_ops.struct_size = ffi.sizeof("dl_handle_ops_t")
        self._handle_ops.require_tensor = self._require

    def close(self) -> None:
        self.table.destroy(self.instance)

    def call(self, slot: str, *arguments: Any) -> None:
        if slot not in WITHOUT_DEVICE:
            self.make_current(arguments[0])
        check(slot, getattr(self.table, slot)(self.instance, *arguments))

    def make_current(self, device: int) -> None:
        """Make a device current, as a host does before a slot that takes a device, and before an
        operator."""
        check("device_set", self.table.device_set(self.instance, device))

    def get(self, slot: str, type_name: str, *arguments: Any) -> Any:
        """Return what a slot writes through its last parameter."""
        out = ffi.new(f"{type_name}*")
        self.call(slot, *arguments, out)
        return out[0]

    def allocate(self, count: int, device: int = 0) -> int:
        return int(ffi.cast("uintptr_t", self.get("memory_allocate", "void*", device, count)))

    def free(self, address: int, device: int = 0) -> None:
        self.call("memory_free", device, ffi.cast("void*", address))

    def pinned(self, count: int) -> int:
        return int(ffi.cast("uintptr_t", self.get("host_allocate", "void*", count)))

    def host_free(self, address: int) -> None:
        self.call("host_free", ffi.cast("void*", address))

    def copy(
        self, to: int, source: int, count: int, kind: int, stream: int = 0, device: int = 0
    ) -> None:
        arguments = (ffi.cast("void*", to), ffi.cast("void*", source), count, kind)
        self.call("memory_copy", device, *arguments, ffi.cast("void*", stream))

    def set(self, address: int, value: int, count: int, stream: int = 0, device: int = 0) -> None:
        memory = ffi.cast("void*", address)
        self.call("memory_set", device, memory, value, count, ffi.cast("void*", stream))

    def read(self, address: int, count: int, stream: int = 0, device: int = 0) -> bytes:
        """Return the bytes, after all enqueued work of the stream."""
        data = np.empty(count, np.uint8)
        self.copy(int(data.ctypes.data), address, count, TO_HOST, stream, device)
        return data.tobytes()

    def stream(self, device: int = 0) -> int:
        return int(ffi.cast("uintptr_t", self.get("stream_create", "void*", device, 0)))

    def synchronize(self, stream: int = 0, device: int = 0) -> None:
        self.call("stream_synchronize", device, ffi.cast("void*", stream))

    def finished(self, stream: int = 0, device: int = 0) -> bool:
        handle = ffi.cast("void*", stream)
        return bool(self.get("stream_query", "int32_t", device, handle))

    def event(self, flags: int = 0, device: int = 0) -> int:
        return int(ffi.cast("uintptr_t", self.get("event_create", "void*", device, flags)))

    def record(self, event: int, stream: int = 0, device: int = 0) -> None:
        self.call("event_record", device, ffi.cast("void*", event), ffi.cast("void*", stream))

    def wait(self, stream: int, event: int, device: int = 0) -> None:
        self.call("stream_wait_event", device, ffi.cast("void*", stream), ffi.cast("void*", event))

    def event_finished(self, event: int, device: int = 0) -> bool:
        return bool(self.get("event_query", "int32_t", device, ffi.cast("void*", event)))

    def elapsed(self, start: int, end: int, device: int = 0) -> float:
        handles = ffi.cast("void*", start), ffi.cast("void*", end)
        return float(self.get("event_elapsed", "double", device, *handles))

    def wait_until_one_started(self, device: int = 0) -> None:
        """Return once the device has started an item, which may then wait for an event."""
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while self.control.counters(device).items_started == 0:
            if time.monotonic() > deadline:
                raise TimeoutError(f"device {device} has started nothing")

    def tensor(self, array: np.ndarray, strides: Sequence[int] | None = None) -> Tensor:
        """Return a copy on device 0; with `strides` (elements), another view of the same memory."""
        data = np.ascontiguousarray(array)
        address = self.allocate(max(1, data.nbytes))
        self.copy(address, int(data.ctypes.data), data.nbytes, TO_DEVICE)
        return Tensor(address, array.shape, str(array.dtype), strides)

    def empty(self, shape: Sequence[int], dtype: str) -> Tensor:
        count = max(1, prod(shape) * np.dtype(dtype).itemsize)
        return Tensor(self.allocate(count), shape, dtype)

    def array(self, tensor: Tensor, stream: int = 0) -> np.ndarray:
        """Return the elements of a contiguous tensor."""
        data = np.empty(tensor.shape, tensor.dtype)
        if data.nbytes:
            self.copy(int(data.ctypes.data), tensor.address, data.nbytes, TO_HOST, stream)
        return data

    def operators(self) -> dict[str, Any]:
        first, count = ffi.new("dl_operator_t**"), ffi.new("uint64_t*")
        self.call("operators", first, count)
        return {ffi.string(first[0][i].name).decode(): first[0][i] for i in range(count[0])}

    def run(self, name: str, *arguments: Any, stream: int = 0, device: int = 0) -> int:
        """Call an operator and return its diopiError_t; tensors may be passed as such."""
        context = ffi.new("dl_context_prefix_t*")
        context.magic, context.version = 0x43696C64, 1
        context.ops, context.host, context.vendor = self._handle_ops, self._host, self.instance
        context.stream, context.device_index = ffi.cast("void*", stream), device
        function = ffi.cast(SIGNATURES[name], self.operators()[name].function)
        passed = [item.handle if isinstance(item, Tensor) else item for item in arguments]
        self.make_current(device)
        return int(function(ffi.cast("diopiContextHandle_t", context), *passed))

    def last_error(self) -> str:
        message = self.table.last_error(self.instance)
        return "" if message == ffi.NULL else ffi.string(message).decode()

    def _require_tensor(
        self, context: Any, out: Any, size: Any, stride: Any, dtype: int, device: int
    ) -> int:
        shape = [size.data[dim] for dim in range(size.len)]
        tensor = self.empty(shape, _NAMES[int(dtype)])
        self.required.append(tensor)
        out[0] = tensor.handle
        return SUCCESS
