"""Sparse CSR tensors: three strided tensors behind one handle."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import ArgumentError
from .cabi import constants
from .instance import Instance
from .layout import check_layout, contiguous_strides, integers
from .storage import Storage
from .tensor import Tensor

_INDICES = ("int32", "int64")


def csr_of_parts(
    instance: Instance,
    crow_indices: Tensor,
    col_indices: Tensor,
    values: Tensor,
    shape: Sequence[int],
) -> Tensor:
    """See :meth:`diopi_proto.Vendor.sparse_csr`."""
    parts = {"crow_indices": crow_indices, "col_indices": col_indices, "values": values}
    for name, part in parts.items():
        if part.storage.instance is not instance or part.device != values.device:
            _fail(name, part, f"a tensor of vendor {instance.name} on device {values.device}")
        if part.is_sparse or part.ndim != 1:
            _fail(name, part, "a dense tensor with one dimension")
    try:
        sizes = integers(shape)
        check_layout(sizes, contiguous_strides(sizes))
    except ValueError as error:
        raise ArgumentError(
            f"[sparse_csr] {error}", operator="sparse_csr", parameter="shape"
        ) from error
    if len(sizes) != 2:
        _fail("shape", sizes, "rows and columns")
    if crow_indices.dtype.name not in _INDICES:
        _fail("crow_indices", crow_indices, "a tensor of int32 or int64")
    if col_indices.dtype is not crow_indices.dtype:
        _fail("col_indices", col_indices, f"a tensor of {crow_indices.dtype}, like crow_indices")
    if crow_indices.size != sizes[0] + 1:
        _fail("crow_indices", crow_indices, f"{sizes[0] + 1} elements for {sizes[0]} rows")
    if col_indices.size != values.size:
        _fail("col_indices", col_indices, f"as many elements as values, {values.size}")
    return _tensor(parts, sizes)


def _tensor(parts: dict[str, Tensor], shape: tuple[int, ...]) -> Tensor:
    values = parts["values"]
    nowhere = Storage(values.storage.instance, 0, 0, values.device, None)
    tensor = Tensor(nowhere, values.dtype, shape, contiguous_strides(shape))
    tensor.hold_parts(parts, constants.DL_TENSOR_SPARSE_CSR)
    return tensor


def _fail(parameter: str, value: object, expected: str) -> None:
    raise ArgumentError(
        f"[sparse_csr] {parameter}: got {value!r}, expected {expected}",
        operator="sparse_csr",
        parameter=parameter,
    )
