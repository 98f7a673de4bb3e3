"""The context of one call, and what the host does for the operator that runs in it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from ..dtypes import DTYPES, dtype_of
from ..errors import VendorError
from .cabi import constants, ffi
from .generator import STATE_BYTES, pack_state, unpack_state
from .hosttable import report_callback_failure
from .instance import Instance
from .layout import bytes_of, check_layout, contiguous_strides
from .storage import device_storage, fill_bands, host_storage
from .structs import CData

if TYPE_CHECKING:
    from .tensor import Tensor

_SUCCESS: int = constants.diopiSuccess
_ERROR: int = constants.diopiErrorOccurred
_HOST: int = constants.diopi_host
_DEVICE: int = constants.diopi_device
_MOST_DIMENSIONS = 64

_live: dict[int, CallContext] = {}
"""The contexts of running calls by address: callbacks get no more than that."""


class CallContext:
    """The context of one call; a context manager around it.

    :ivar handle: ``diopiContextHandle_t``.
    :ivar required: tensors that the operator required, by the address of their handle.
    :ivar stream: where it is enqueued.
    :ivar failure: what went wrong in a callback; the operator only saw an error code.
    """

    def __init__(self, instance: Instance, device: int, stream: CData) -> None:
        self.instance = instance
        self.device = device
        self.required: dict[int, Tensor] = {}
        self.failure: BaseException | None = None
        self.stream = stream
        self._may_leave_error = False
        prefix = ffi.new("dl_context_prefix_t*")
        prefix.magic = constants.DL_CONTEXT_MAGIC
        prefix.version = constants.DL_PREFIX_VERSION
        prefix.ops = handle_ops()
        prefix.stream = stream
        prefix.device_index = device
        prefix.host = instance.host.pointer
        prefix.vendor = instance.handle
        self._prefix = prefix
        self.handle: CData = ffi.cast("diopiContextHandle_t", prefix)
        self._before: CData = ffi.NULL

    def __enter__(self) -> CallContext:
        _live[address(self.handle)] = self
        self._before = self.instance.enter(self.handle)
        return self

    def __exit__(self, *exception: object) -> None:
        self.instance.leave(self._before)
        del _live[address(self.handle)]
        # Only now is all enqueued that may write to the word.
        if self._may_leave_error and self.instance.device_errors is not None:
            self.instance.device_errors.enqueued(self.device, self.stream)

    def error_word(self) -> CData:
        """The error word of the call's stream; NULL: the operator has to check at once."""
        errors = self.instance.device_errors
        if errors is None:
            return ffi.NULL
        try:
            word = errors.word(self.device, self.stream)
        except VendorError:
            return ffi.NULL
        self._may_leave_error = True
        return word

    def require(
        self, sizes: list[int], strides: list[int] | None, dtype: int, device: int
    ) -> CData:
        """The handle of a new tensor that belongs to this context.

        :raises ValueError: the sizes, strides, dtype or device mean nothing.
        :raises OutOfMemoryError: there is not so much memory.
        """
        from .tensor import Tensor

        kind = dtype_of(dtype)
        shape = tuple(sizes)
        steps = contiguous_strides(shape) if strides is None else tuple(strides)
        check_layout(shape, steps)
        nbytes = bytes_of(shape, steps, kind.itemsize)
        if device == _DEVICE:
            storage = device_storage(self.instance, self.device, nbytes)
        elif device == _HOST:
            storage = host_storage(self.instance, nbytes)
        else:
            raise ValueError(f"{device} is not a diopiDevice_t")
        if storage.band:
            fill_bands(storage)
        tensor = Tensor(storage, kind, shape, steps)
        self.required[address(tensor.handle)] = tensor
        return tensor.handle


def address(pointer: CData) -> int:
    """A pointer as a number."""
    return int(ffi.cast("uintptr_t", pointer))


@cache
def handle_ops() -> CData:
    """The ``dl_handle_ops_t`` that all handles of the process point to."""
    ops = ffi.new("dl_handle_ops_t*")
    ops.struct_size = ffi.sizeof("dl_handle_ops_t")
    declared = dict(ffi.typeof("dl_handle_ops_t").fields)
    for slot, function in _OPS.items():
        callback = ffi.callback(
            declared[slot].type, function, error=_ERROR, onerror=report_callback_failure
        )
        _callbacks.append(callback)
        setattr(ops, slot, callback)
    return ops


_callbacks: list[CData] = []


def _guarded(handle: CData, body: Callable[[CallContext], int]) -> int:
    context = _live.get(address(handle))
    if context is None:
        raise RuntimeError("an operator uses a context whose call has returned")
    try:
        return body(context)
    except Exception as error:  # noqa: BLE001 - no exception may cross into C
        # The operator turns the code into its own error, which then names this one as its cause.
        context.failure = error
        return _ERROR


def _require_tensor(
    handle: CData, out: CData, size: CData, stride: CData, dtype: int, device: int
) -> int:
    def body(context: CallContext) -> int:
        if size == ffi.NULL:
            raise ValueError("diopiRequireTensor was called without a size")
        sizes = _values(size, "size")
        # An empty list of strides is how libraries in DIOPI's style say "contiguous".
        strides = _values(stride, "stride") if stride != ffi.NULL else []
        out[0] = context.require(sizes, strides or None, dtype, device)
        return _SUCCESS

    return _guarded(handle, body)


def _require_buffer(handle: CData, out: CData, count: int, device: int) -> int:
    def body(context: CallContext) -> int:
        out[0] = context.require([count], None, DTYPES["uint8"].number, device)
        return _SUCCESS

    return _guarded(handle, body)


def _generator_get_state(handle: CData, generator: CData, out: CData) -> int:
    def body(context: CallContext) -> int:
        state = context.require([STATE_BYTES], None, DTYPES["uint8"].number, _HOST)
        packed = pack_state(ffi.cast("dl_generator_prefix_t*", generator))
        data = ffi.cast("dl_tensor_prefix_t*", state).data
        ffi.memmove(data, packed, STATE_BYTES)
        out[0] = state
        return _SUCCESS

    return _guarded(handle, body)


def _generator_set_state(generator: CData, state: CData) -> int:
    tensor = ffi.cast("dl_tensor_prefix_t*", state)
    host_bytes = tensor.dtype == DTYPES["uint8"].number and tensor.device == _HOST
    if tensor.magic != constants.DL_TENSOR_MAGIC or not host_bytes:
        raise ValueError("a generator's state is a uint8 host tensor")
    content = bytes(ffi.buffer(tensor.data, tensor.numel))
    unpack_state(ffi.cast("dl_generator_prefix_t*", generator), content)
    return _SUCCESS


def _record_start(handle: CData, name: CData, record: CData) -> int:
    # There is no profiler here; operators may still name their ranges.
    record[0] = ffi.NULL
    return _SUCCESS


def _record_end(handle: CData, record: CData) -> int:
    return _SUCCESS


def _device_error(handle: CData, out: CData) -> int:
    def body(context: CallContext) -> int:
        out[0] = context.error_word()
        return _SUCCESS

    return _guarded(handle, body)


_OPS: dict[str, Callable[..., Any]] = {
    "require_tensor": _require_tensor,
    "require_buffer": _require_buffer,
    "generator_get_state": _generator_get_state,
    "generator_set_state": _generator_set_state,
    "record_start": _record_start,
    "record_end": _record_end,
    "device_error": _device_error,
}


def _values(given: CData, what: str) -> list[int]:
    if not 0 <= given.len <= _MOST_DIMENSIONS or (given.len and given.data == ffi.NULL):
        at = "at NULL" if given.data == ffi.NULL else f"from 0 to {_MOST_DIMENSIONS} are possible"
        raise ValueError(
            f"diopiRequireTensor was called with a {what} of {given.len} dimensions; {at}"
        )
    return list(ffi.unpack(given.data, given.len)) if given.len else []
