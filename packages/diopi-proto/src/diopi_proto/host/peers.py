"""The peer extension: access to memory of other devices and processes."""

from __future__ import annotations

import weakref
from collections.abc import Sequence

import numpy.typing as npt

from ..dtypes import Dtype, dtype_of
from ..errors import ArgumentError
from .cabi import ffi
from .extensions import create_owned, extension_of
from .instance import Instance
from .layout import contiguous_strides, integers, span
from .storage import Storage
from .streams import Stream
from .structs import CData
from .tensor import Tensor

_HANDLE = "dl_peer_handle_t"


class Peers:
    """The peer extension of one vendor; :attr:`diopi_proto.Vendor.peers`."""

    def __init__(self, instance: Instance) -> None:
        self._instance, self._slots = instance, extension_of(instance, "peer")

    def can_access(self, device: int, peer: int) -> bool:
        """Return True if kernels of one device can access memory of another."""
        found = ffi.new("int32_t*")
        self._slots.call("can_access", *self._both(device, peer), found)
        return bool(found[0])

    def enable_access(self, device: int, peer: int) -> None:
        """Allow kernels of ``device`` to access memory of ``peer``."""
        self._slots.call("enable_access", *self._both(device, peer))

    def disable_access(self, device: int, peer: int) -> None:
        """Undo :meth:`enable_access`."""
        self._slots.call("disable_access", *self._both(device, peer))

    def copy(
        self,
        destination: Tensor,
        source: Tensor,
        *,
        stream: Stream | None = None,
        synchronize: bool = True,
    ) -> None:
        """Copy between two devices; the tensors are contiguous, of the same dtype and size.

        :param stream: stream of the source's device; None: its default stream.
        :raises ArgumentError: the tensors differ in dtype or size, or are not contiguous.
        """
        instance = self._instance
        ours = all(t.storage.instance is instance for t in (destination, source))
        here, there = source.device, destination.device
        if not ours or here is None or there is None:
            raise _unfit(f"{destination!r} and {source!r} are not on devices of {instance.name}")
        dense = destination.is_contiguous and source.is_contiguous
        if not dense or (destination.dtype, destination.size) != (source.dtype, source.size):
            raise _unfit(f"{destination!r} and {source!r} differ, or are not contiguous")
        queue = ffi.NULL if stream is None else stream.pointer_for(instance, here)
        count = source.size * source.dtype.itemsize
        first, second = (ffi.cast("void*", tensor.address) for tensor in (source, destination))
        self._slots.call("copy", here, first, there, second, count, queue)
        instance.enqueued(here, queue, [destination, source, stream])
        if synchronize:
            instance.wait(here, queue)

    def export_memory(self, tensor: Tensor) -> bytes:
        """Return a handle of the tensor's storage for :meth:`open_memory` in another process."""
        storage = tensor.storage
        if storage.instance is not self._instance or storage.device is None or storage.band:
            raise _unfit(f"the memory of {tensor!r} was not allocated by the vendor")
        handle = ffi.new(f"{_HANDLE}*")
        address = ffi.cast("void*", storage.address)
        self._slots.call("export_memory", storage.device, address, handle)
        return bytes(ffi.buffer(handle))

    def open_memory(
        self,
        handle: bytes,
        shape: Sequence[int],
        dtype: Dtype | npt.DTypeLike = "float32",
        *,
        device: int = 0,
    ) -> Tensor:
        """Return memory of another process as a contiguous tensor.

        :raises VendorError: the handle is not valid any more.
        :raises ArgumentError: the memory is smaller than the tensor.
        """
        instance, slots = self._instance, self._slots
        device = instance.check_device(device, "peer.open_memory")
        raw, size = _handle(handle), ffi.new("uint64_t*")
        owner = _Opened()
        address = create_owned(
            owner,
            instance,
            lambda pointer: slots.call("open_memory", device, raw, pointer, size),
            lambda memory: slots.call("close_memory", device, memory),
            "memory of another process",
        )
        kind, sizes = dtype_of(dtype), integers(shape)
        strides = contiguous_strides(sizes)
        if span(sizes, strides) * kind.itemsize > size[0]:
            raise _unfit(f"the memory has {size[0]} bytes, fewer than {kind} of {sizes}")
        number = int(ffi.cast("uintptr_t", address))
        storage = Storage(instance, number, int(size[0]), device, None)
        # The memory is closed together with the storage.
        weakref.finalize(storage, owner.hold).atexit = False
        return Tensor(storage, kind, sizes, strides)

    def _both(self, device: int, peer: int) -> tuple[int, int]:
        check = self._instance.check_device
        return check(device, "peer"), check(peer, "peer")


class _Opened:
    """Mapping of another process's memory; closed with its last reference."""

    def hold(self) -> None:
        """Do nothing; a reference to this bound method keeps the object alive."""


def _handle(handle: bytes) -> CData:
    if len(handle) != ffi.sizeof(_HANDLE):
        raise _unfit(f"the handle has {len(handle)} bytes, expected {ffi.sizeof(_HANDLE)}")
    raw = ffi.new(f"{_HANDLE}*")
    ffi.buffer(raw)[:] = handle
    return raw


def _unfit(why: str) -> ArgumentError:
    return ArgumentError(f"[peer] {why}", operator="peer")
