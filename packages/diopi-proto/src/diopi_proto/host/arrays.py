"""Creation of tensors, from numpy arrays or uninitialized."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ..dtypes import Array, Dtype, dtype_of, to_storage
from ..errors import ArgumentError, OutOfMemoryError
from .cabi import constants
from .instance import ANY_HOST_POINTER, Instance
from .layout import Shape, bytes_of, check_layout, contiguous_strides, integers, span
from .storage import device_storage, host_storage, shared_storage
from .tensor import Tensor


def empty(
    instance: Instance,
    shape: Sequence[int],
    dtype: Dtype | npt.DTypeLike,
    strides: Sequence[int] | None,
    device: int | None,
) -> Tensor:
    """See :meth:`diopi_proto.Vendor.empty`."""
    kind = _dtype("empty", dtype)
    try:
        sizes = integers(shape)
        steps = contiguous_strides(sizes) if strides is None else integers(strides)
        check_layout(sizes, steps)
    except ValueError as error:
        raise ArgumentError(f"[empty] {error}", operator="empty", parameter="shape") from error
    if device is not None:
        device = instance.check_device(device, "empty")
    try:
        nbytes = bytes_of(sizes, steps, kind.itemsize)
        if device is None:
            storage = host_storage(instance, nbytes)
        else:
            storage = device_storage(instance, device, nbytes)
    except OutOfMemoryError:
        raise
    except MemoryError as error:
        raise OutOfMemoryError(
            f"[empty] out of memory: {error}",
            code=constants.DL_OUT_OF_MEMORY,
            operation="empty",
            vendor=instance.name,
        ) from error
    return Tensor(storage, kind, sizes, steps)


def from_array(
    instance: Instance,
    array: npt.ArrayLike,
    dtype: Dtype | npt.DTypeLike | None,
    device: int | None,
    copy: bool | None,
) -> Tensor:
    """See :meth:`diopi_proto.Vendor.tensor`."""
    source = np.asarray(array)
    kind = _dtype("tensor", source.dtype if dtype is None else dtype)
    try:
        stored = to_storage(source, kind)
    except ValueError as error:
        raise ArgumentError(f"[tensor] {error}", operator="tensor", parameter="dtype") from error
    obstacle = _sharing_obstacle(instance, source, stored, device)
    if copy is False and obstacle:
        raise ArgumentError(
            f"[tensor] copy=False: {obstacle}; use copy=None or copy=True",
            operator="tensor",
            parameter="copy",
        )
    wants_bands = instance.guard is not None and copy is None
    if copy is not True and not obstacle and not wants_bands:
        return _shared(instance, stored, kind, device)
    strides = _element_strides(stored) if _representable(stored) else None
    tensor = empty(instance, stored.shape, kind, strides, device)
    if stored.size:
        tensor.copy_from(stored)
    return tensor


def _shared(instance: Instance, stored: Array, kind: Dtype, device: int | None) -> Tensor:
    if device is not None:
        instance.check_device(device, "tensor")
    instance.lifetime.check_open()
    steps = _element_strides(stored)
    flat = np.lib.stride_tricks.as_strided(stored, (span(stored.shape, steps),), (stored.itemsize,))
    return Tensor(shared_storage(instance, device, flat.view(np.uint8)), kind, stored.shape, steps)


def _sharing_obstacle(instance: Instance, source: Array, stored: Array, device: int | None) -> str:
    """Return why an array's memory cannot be shared; empty if it can."""
    if device is not None and not instance.can(ANY_HOST_POINTER):
        return f"vendor {instance.name} can only use memory that it has allocated"
    if stored is not source and stored.base is not source:
        return f"{source.dtype} must be converted"
    if not stored.flags.writeable:
        return "the array is read-only"
    if not stored.flags.aligned or not _representable(stored):
        return "its strides are negative, or not multiples of the element size"
    return ""


def _dtype(operation: str, value: Dtype | npt.DTypeLike) -> Dtype:
    try:
        return dtype_of(value)
    except ValueError as error:
        raise ArgumentError(
            f"[{operation}] {error}", operator=operation, parameter="dtype"
        ) from error


def _representable(array: Array) -> bool:
    return all(step >= 0 and step % array.itemsize == 0 for step in array.strides)


def _element_strides(array: Array) -> Shape:
    return tuple(step // array.itemsize for step in array.strides)
