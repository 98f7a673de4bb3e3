"""Functions of the host that operators call through their handles (``dl_handle_ops_t``)."""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import cache
from typing import Any, Protocol

from ..dtypes import DTYPES
from .cabi import constants, ffi
from .hosttable import report_callback_failure
from .structs import CData, address

_SUCCESS: int = constants.diopiSuccess
_ERROR: int = constants.diopiErrorOccurred
_HOST: int = constants.diopi_host
_MOST_DIMENSIONS = 64
_STATE = struct.Struct("<QQ")
"""The opaque state of a generator: seed and offset."""


class RunningCall(Protocol):
    """The part of a call's context that these functions use.

    :ivar failure: exception of such a function; the operator only received an error code for it.
    """

    failure: BaseException | None

    def require(
        self, sizes: list[int], strides: list[int] | None, dtype: int, device: int
    ) -> CData:
        """Return the handle of a new tensor that belongs to the call."""

    def error_word(self) -> CData:
        """Return the error word of the call's stream, or NULL."""


running: dict[int, RunningCall] = {}
"""The running calls by the address of their context, which is all that an operator passes."""


@cache
def handle_ops() -> CData:
    """Return the ``dl_handle_ops_t`` to which all handles of the process point."""
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


def _guarded(handle: CData, body: Callable[[RunningCall], int]) -> int:
    context = running.get(address(handle))
    if context is None:
        raise RuntimeError("an operator used a context after its call had returned")
    try:
        return body(context)
    except Exception as error:  # noqa: BLE001 - no exception may cross into C
        # The operator returns an error for this code; that error names this exception as its cause.
        context.failure = error
        return _ERROR


def _require_tensor(
    handle: CData, out: CData, size: CData, stride: CData, dtype: int, device: int
) -> int:
    def body(context: RunningCall) -> int:
        if size == ffi.NULL:
            raise ValueError("diopiRequireTensor was called without a size")
        sizes = _values(size, "size")
        # Libraries in DIOPI's style pass an empty list of strides for "contiguous".
        strides = _values(stride, "stride") if stride != ffi.NULL else []
        out[0] = context.require(sizes, strides or None, dtype, device)
        return _SUCCESS

    return _guarded(handle, body)


def _require_buffer(handle: CData, out: CData, count: int, device: int) -> int:
    def body(context: RunningCall) -> int:
        out[0] = context.require([count], None, DTYPES["uint8"].number, device)
        return _SUCCESS

    return _guarded(handle, body)


def _generator_get_state(handle: CData, generator: CData, out: CData) -> int:
    def body(context: RunningCall) -> int:
        state = context.require([_STATE.size], None, DTYPES["uint8"].number, _HOST)
        prefix = ffi.cast("dl_generator_prefix_t*", generator)
        data = ffi.cast("dl_tensor_prefix_t*", state).data
        ffi.memmove(data, _STATE.pack(prefix.seed, prefix.offset), _STATE.size)
        out[0] = state
        return _SUCCESS

    return _guarded(handle, body)


def _generator_set_state(generator: CData, state: CData) -> int:
    tensor = ffi.cast("dl_tensor_prefix_t*", state)
    host_bytes = tensor.dtype == DTYPES["uint8"].number and tensor.device == _HOST
    if tensor.magic != constants.DL_TENSOR_MAGIC or not host_bytes:
        raise ValueError("a generator's state is a uint8 host tensor")
    if tensor.numel != _STATE.size:
        raise ValueError(f"a generator's state has {_STATE.size} bytes, not {tensor.numel}")
    prefix = ffi.cast("dl_generator_prefix_t*", generator)
    prefix.seed, prefix.offset = _STATE.unpack(ffi.buffer(tensor.data, tensor.numel))
    return _SUCCESS


def _record_start(handle: CData, name: CData, record: CData) -> int:
    # This host has no profiler; the names of ranges are ignored.
    record[0] = ffi.NULL
    return _SUCCESS


def _record_end(handle: CData, record: CData) -> int:
    return _SUCCESS


def _device_error(handle: CData, out: CData) -> int:
    def body(context: RunningCall) -> int:
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
        at = "at NULL" if given.data == ffi.NULL else f"expected 0 to {_MOST_DIMENSIONS}"
        raise ValueError(
            f"diopiRequireTensor was called with a {what} of {given.len} dimensions; {at}"
        )
    return list(ffi.unpack(given.data, given.len)) if given.len else []
