"""The memory behind tensors."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import OutOfMemoryError
from .instance import DEVICE_TO_HOST, HOST_ACCESSIBLE, HOST_TO_DEVICE, Instance
from .memory import aligned_bytes

Bytes = npt.NDArray[np.uint8]


class Storage:
    """Block of memory that tensors view; freed with the last of them.

    Created by :func:`device_storage`, :func:`host_storage` and :func:`shared_storage`.

    :ivar device: None for host memory.
    :ivar band: bytes at both ends of the block that belong to no tensor; see watch.py.
    :ivar padding: bytes between the memory and the second band that operators may read.
    """

    __slots__ = (
        *("__weakref__", "_array", "address", "band", "device", "instance", "nbytes", "padding"),
    )

    def __init__(
        self,
        instance: Instance,
        address: int,
        nbytes: int,
        device: int | None,
        array: Bytes | None,
        band: int = 0,
        padding: int = 0,
    ) -> None:
        self.instance = instance
        self.address = address
        self.nbytes = nbytes
        self.device = device
        self.band = band
        self.padding = padding
        # Includes the bands, if the memory is an array.
        self._array = array

    @property
    def block_bytes(self) -> int:
        """Return the size of the block: the memory, its padding and its bands."""
        return self.nbytes + self.padding + 2 * self.band

    @property
    def accessible(self) -> bool:
        """True if Python may read and write the memory in place."""
        return self._array is not None or self.instance.can(HOST_ACCESSIBLE)

    @property
    def __array_interface__(self) -> dict[str, Any]:
        # The array keeps a reference to this object, and thereby to the memory.
        return {
            "version": 3,
            "shape": (self.block_bytes,),
            "typestr": "|u1",
            "data": (self.address - self.band, False),
        }

    def bytes(self) -> Bytes:
        """Return the memory itself as an array; only if :attr:`accessible`."""
        return self._everything()[self.band : self.band + self.nbytes]

    def with_bands(self) -> Bytes:
        """Return a copy of the whole block."""
        if self.accessible:
            return self._everything().copy()
        return self.read(-self.band, self.block_bytes)

    def write_with_bands(self, content: Bytes) -> None:
        """Restore the contents that :meth:`with_bands` returned, synchronously."""
        if self.accessible:
            self._everything()[:] = content
        else:
            self.write(-self.band, content)

    def _everything(self) -> Bytes:
        if self._array is not None:
            return self._array
        if self.nbytes == 0:
            return np.empty(0, dtype=np.uint8)
        return np.asarray(self)

    def read(self, start: int, count: int) -> Bytes:
        """Return a copy of a part of inaccessible memory, synchronously."""
        target = aligned_bytes(count)
        if count:
            self._copy(target, start, DEVICE_TO_HOST)
        return target

    def write(self, start: int, source: Bytes) -> None:
        """Write a part of inaccessible memory, synchronously."""
        if source.size:
            self._copy(source, start, HOST_TO_DEVICE)

    def _copy(self, array: Bytes, start: int, kind: int) -> None:
        assert self.device is not None
        ends = [self.address + start, int(array.ctypes.data)]
        destination, source = ends if kind == HOST_TO_DEVICE else reversed(ends)
        self.instance.copy(self.device, destination, source, array.size, kind)


def device_storage(instance: Instance, device: int, nbytes: int) -> Storage:
    """Allocate uninitialized device memory.

    :raises OutOfMemoryError: memory is exhausted.
    :raises ClosedError: the vendor was closed.
    """
    if nbytes == 0:
        instance.lifetime.check_open()
        return Storage(instance, 0, 0, device, None)
    band = instance.guard.band if instance.guard is not None else 0
    instance.lifetime.hold()
    try:
        padding = instance.padding(device)
        address = _allocate(instance, device, nbytes + padding + 2 * band)
    except BaseException:
        instance.lifetime.drop()
        raise
    storage = Storage(instance, address + band, nbytes, device, None, band, padding)
    weakref.finalize(storage, instance.release, device, address).atexit = False
    return storage


def _allocate(instance: Instance, device: int, count: int) -> int:
    """Call :meth:`Instance.allocate`. If memory is exhausted, wait for enqueued work and collect
    garbage, which frees tensors that are no longer needed, then call it again.
    """
    try:
        return instance.allocate(device, count)
    except OutOfMemoryError:
        instance.wait_all(device)
        gc.collect()
        return instance.allocate(device, count)


def host_storage(instance: Instance, nbytes: int) -> Storage:
    """Allocate uninitialized host memory for ``diopi_host`` tensors."""
    if nbytes == 0:
        return Storage(instance, 0, 0, None, aligned_bytes(0))
    band = instance.guard.band if instance.guard is not None else 0
    array = aligned_bytes(nbytes + 2 * band)
    return Storage(instance, int(array.ctypes.data) + band, nbytes, None, array, band)


def shared_storage(instance: Instance, device: int | None, array: Bytes) -> Storage:
    """Return a storage that shares an array's memory, for vendors that accept any host pointer."""
    return Storage(instance, int(array.ctypes.data), array.size, device, array)


def noise(count: int, salt: int = 0) -> Bytes:
    """Return deterministic noise, in which no byte is 0 and adjacent bytes differ."""
    places = np.arange(count, dtype=np.uint32) + np.uint32(salt)
    return ((places * 2654435761 >> 24) | 1).astype(np.uint8)


def fill_bands(storage: Storage) -> None:
    """Fill a block of new, uninitialized memory with noise."""
    storage.write_with_bands(noise(storage.block_bytes))
