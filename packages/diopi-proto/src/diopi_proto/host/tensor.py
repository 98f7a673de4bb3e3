"""Tensors of this host: conversion from and to numpy, and the handles for operators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from ..dtypes import Array, Dtype, bfloat16_to_float32, to_storage
from .cabi import constants, ffi
from .handle_ops import handle_ops
from .layout import Shape, check_layout, contiguous_strides, integers, is_contiguous, span
from .storage import Storage
from .structs import CData

_SPARSE_CSR: int = constants.DL_TENSOR_SPARSE_CSR
_CONTIGUOUS: int = constants.DL_TENSOR_CONTIGUOUS


class Tensor:
    """Strided view of a vendor's memory. Created by :class:`diopi_proto.Vendor` and by operators.

    :ivar shape: sizes.
    :ivar strides: strides in elements, never negative; 0 for broadcast dimensions.
    :ivar offset: storage offset in elements.
    :ivar dtype: one of :data:`diopi_proto.dtypes.DTYPES`.
    :ivar storage: the memory, which lives as long as any tensor or array that views it.
    :ivar parts: component tensors of a sparse tensor by name; empty for a strided tensor.
    """

    __slots__ = (
        "__weakref__",
        "_keep",
        "_prefix",
        "dtype",
        "handle",
        "offset",
        "parts",
        "shape",
        "storage",
        "strides",
    )

    def __init__(
        self, storage: Storage, dtype: Dtype, shape: Shape, strides: Shape, offset: int = 0
    ) -> None:
        self.storage = storage
        self.dtype = dtype
        self.shape = shape
        self.strides = strides
        self.offset = offset
        self.parts: Mapping[str, Tensor] = {}
        sizes = ffi.new("int64_t[]", shape or (0,))
        steps = ffi.new("int64_t[]", strides or (0,))
        self._keep: tuple[object, ...] = (sizes, steps)
        prefix = ffi.new("dl_tensor_prefix_t*")
        prefix.magic = constants.DL_TENSOR_MAGIC
        prefix.version = constants.DL_PREFIX_VERSION
        prefix.ops = handle_ops()
        if storage.nbytes:
            prefix.data = ffi.cast("void*", storage.address + offset * dtype.itemsize)
            prefix.storage = ffi.cast("void*", storage.address)
        prefix.storage_offset = offset
        prefix.storage_bytes = storage.nbytes
        prefix.sizes = sizes
        prefix.strides = steps
        prefix.ndim = len(shape)
        prefix.numel = prod(shape)
        prefix.dtype = dtype.number
        host = storage.device is None
        prefix.device = constants.diopi_host if host else constants.diopi_device
        prefix.device_index = storage.device or 0
        prefix.flags = _CONTIGUOUS if is_contiguous(shape, strides) else 0
        self._prefix = prefix
        self.handle: CData = ffi.cast("diopiTensorHandle_t", prefix)
        """``diopiTensorHandle_t``, valid as long as this object."""

    def hold_parts(self, parts: Mapping[str, Tensor], flags: int) -> None:
        """Set the component tensors, which are fields of the handle."""
        for name, part in parts.items():
            setattr(self._prefix, name, part._prefix)
        self._prefix.flags = flags
        self.parts = dict(parts)

    @property
    def device(self) -> int | None:
        """Return the device index; None for host memory."""
        return self.storage.device

    @property
    def address(self) -> int:
        """Return the address of element 0 in the vendor's memory; 0 without memory."""
        return int(ffi.cast("uintptr_t", self._prefix.data))

    @property
    def ndim(self) -> int:
        """Return the number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Return the number of elements."""
        return prod(self.shape)

    @property
    def is_contiguous(self) -> bool:
        """Return True for dense row-major strides."""
        return bool(self._prefix.flags & _CONTIGUOUS)

    @property
    def is_sparse(self) -> bool:
        """Return True for a CSR tensor; see :meth:`diopi_proto.Vendor.sparse_csr`."""
        return bool(self._prefix.flags & _SPARSE_CSR)

    def numpy(self, *, copy: bool = True) -> Array:
        """Return the elements as a numpy array of :attr:`shape` with the dtype ``dtype.storage``.

        Waits for all work that was enqueued on the device.

        :param copy: return a copy; False: return an array that shares the memory and
            keeps it alive.
        :raises ValueError: ``copy=False`` for memory that the host cannot access, or a sparse
            tensor.
        :raises ClosedError: the vendor was closed and its memory can only be read through it.
        """
        if self.is_sparse:
            raise ValueError("a sparse CSR tensor has no elements; read its three parts")
        storage, instance = self.storage, self.storage.instance
        if storage.device is not None and not instance.lifetime.closed:
            instance.wait_all(storage.device)
        if storage.accessible:
            view = self._view(storage.bytes(), self.offset)
            return view.copy() if copy else view
        if not copy:
            raise ValueError(f"{self!r}: the host cannot access this memory; use copy=True")
        return self._view(self._read_span(), 0).copy()

    def float32(self) -> Array:
        """Return the elements as a numpy array of float32; also for bfloat16."""
        array = self.numpy()
        if self.dtype.name == "bfloat16":
            return bfloat16_to_float32(array)
        if self.dtype.name == "complex32":
            raise ValueError("complex32 has no float32 values; view numpy() as pairs of float16")
        return array.astype(np.float32, copy=False)

    def copy_from(self, array: Any) -> None:
        """Write the elements synchronously, after all work that was enqueued on the device.

        :param array: array that numpy can broadcast to :attr:`shape`; converted to the dtype.
        :raises ValueError: the shape or a value does not fit, or the tensor is sparse.
        """
        if self.is_sparse:
            raise ValueError("a sparse CSR tensor has no elements; write to its three parts")
        try:
            values = to_storage(np.asarray(array), self.dtype)
        except OverflowError as error:
            raise ValueError(f"a number does not fit in {self.dtype}: {error}") from error
        storage, instance = self.storage, self.storage.instance
        if storage.device is not None:
            instance.lifetime.check_open()
            instance.wait_all(storage.device)
        if storage.accessible:
            self._view(storage.bytes(), self.offset)[...] = values
            return
        # Gaps between the elements must be preserved.
        staged = self._read_span()
        self._view(staged, 0)[...] = values
        storage.write(self.offset * self.dtype.itemsize, staged)

    def as_strided(
        self, shape: Sequence[int], strides: Sequence[int] | None = None, offset: int = 0
    ) -> Tensor:
        """Return another view of the same storage; strides and storage offset are in elements.

        :raises ValueError: the view exceeds the storage, or a size or stride is negative.
        """
        shape, (offset,) = integers(shape), integers([offset])
        strides = contiguous_strides(shape) if strides is None else integers(strides)
        check_layout(shape, strides, offset)
        needed = (offset + span(shape, strides)) * self.dtype.itemsize
        if needed > self.storage.nbytes:
            raise ValueError(
                f"shape {shape}, strides {strides}, offset {offset} need {needed} bytes; "
                f"the storage has {self.storage.nbytes}"
            )
        return Tensor(self.storage, self.dtype, shape, strides, offset)

    def _view(self, memory: Array, offset: int) -> Array:
        size = self.dtype.itemsize
        if self.size == 0:
            return np.empty(self.shape, self.dtype.storage)
        return np.ndarray(
            self.shape,
            self.dtype.storage,
            buffer=memory.data,
            offset=offset * size,
            strides=tuple(step * size for step in self.strides),
        )

    def _read_span(self) -> Array:
        self.storage.instance.lifetime.check_open()
        size = self.dtype.itemsize
        return self.storage.read(self.offset * size, span(self.shape, self.strides) * size)

    def __repr__(self) -> str:
        place = "host" if self.device is None else f"device {self.device}"
        layout = "sparse CSR" if self.is_sparse else f"strides={self.strides}"
        return (
            f"Tensor(shape={self.shape}, dtype={self.dtype}, {layout}, "
            f"vendor={self.storage.instance.name}, {place})"
        )
