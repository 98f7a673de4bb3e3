"""How much memory a bundle needs, counted from its document: nothing is read or made for it."""

from __future__ import annotations

import enum
import math
from collections.abc import Iterable

from dl_optools.bundle.document import Document
from dl_optools.bundle.records import TensorRecord
from dl_optools.bundle.values import dtype_of

_WIDE_COPIES = 3
"""Of all tensors as float64, that a verdict holds at a time: references, and what it compares."""


class Use(enum.Enum):
    """What a bundle is read for."""

    READ = "read"
    RUN = "run"
    CHECK = "check"


def memory_needed(document: Document, use: Use) -> int:
    """Bytes at most, of the tensors that the document tells of.

    What an operator takes for itself, and results that are larger than the recorded ones, are for
    the limit of the process.
    """
    held = sum(record.nbytes for record in document.storages)
    payload = max((x.nbytes for record in document.storages for x in record.pieces), default=0)
    if use is Use.READ:
        return held + payload
    gradients = document.gradients
    made = [result.tensor for result in document.results]
    if gradients is not None:
        made += [x for x in (*gradients.outputs, *gradients.inputs) if x is not None]
    # Copies of the storages for the call; what it returns and sends back.
    need = 2 * held + _nbytes([document.tensors[index] for index in made])
    if use is Use.CHECK:
        need += _WIDE_COPIES * _nbytes(document.tensors, wide=True)
    return max(need, held + payload)


def largest_tensor(document: Document) -> tuple[int, int]:
    """The tensor with the most bytes and how many: expanded ones are larger than their storage."""
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
