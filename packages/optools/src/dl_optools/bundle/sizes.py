"""Memory that a bundle needs, computed from its document without reading or creating tensors."""

from __future__ import annotations

import enum
import math
from collections.abc import Iterable

from dl_optools.bundle.document import Document
from dl_optools.bundle.records import TensorRecord
from dl_optools.bundle.values import dtype_of

_WIDE_COPIES = 3
"""Copies of all tensors in float64 that a check holds at a time: references and results."""


class Use(enum.Enum):
    """Purpose of reading a bundle."""

    READ = "read"
    RUN = "run"
    CHECK = "check"


def memory_needed(document: Document, use: Use) -> int:
    """Return an upper bound in bytes for the tensors that the document describes.

    Memory that an operator allocates internally, and results larger than the recorded ones, are
    subject to the limit of the process.
    """
    held = sum(record.nbytes for record in document.storages)
    payload = max((x.nbytes for record in document.storages for x in record.pieces), default=0)
    if use is Use.READ:
        return held + payload
    gradients = document.gradients
    made = [result.tensor for result in document.results]
    if gradients is not None:
        made += [x for x in (*gradients.outputs, *gradients.inputs) if x is not None]
    # Copies of the storages for the call, its results and its gradients.
    need = 2 * held + _nbytes([document.tensors[index] for index in made])
    if use is Use.CHECK:
        need += _WIDE_COPIES * _nbytes(document.tensors, wide=True)
    return max(need, held + payload)


def largest_tensor(document: Document) -> tuple[int, int]:
    """Return index and bytes of the largest tensor: expanded ones exceed their storage."""
    sizes = [_nbytes([tensor]) for tensor in document.tensors]
    most = max(sizes, default=0)
    return (sizes.index(most) if sizes else 0), most


def _nbytes(tensors: Iterable[TensorRecord], wide: bool = False) -> int:
    total = 0
    for tensor in tensors:
        # Sparse tensors are as large as their parts.
        if tensor.stride is None:
            continue
        dtype = dtype_of(tensor.dtype, "a tensor")
        itemsize = dtype.itemsize
        if wide and (dtype.is_floating_point or dtype.is_complex):
            itemsize = 16 if dtype.is_complex else 8
        total += math.prod(tensor.shape) * itemsize
    return total
