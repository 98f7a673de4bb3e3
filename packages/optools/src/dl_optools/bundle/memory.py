"""Reconstruction of storages and tensors from the pieces of a bundle."""

from __future__ import annotations

from collections.abc import Iterable

import torch

from dl_optools.bundle.records import Piece, TensorRecord
from dl_optools.bundle.restore import view_bytes
from dl_optools.bundle.values import dtype_of

_ITEMS = {
    1: torch.uint8,
    2: torch.int16,
    4: torch.int32,
    8: torch.int64,
    16: torch.complex128,
}


def assemble(nbytes: int, pieces: Iterable[tuple[Piece, torch.Tensor]]) -> torch.Tensor:
    """Return the flat bytes of a storage; bytes outside of all pieces are 0.

    :param pieces: each with its bytes: uint8, contiguous.
    """
    flat = torch.zeros(nbytes, dtype=torch.uint8)
    for piece, data in pieces:
        items = _ITEMS[piece.itemsize]
        there = view_bytes(flat, items).as_strided(piece.shape, piece.stride, piece.offset)
        there.copy_(data.view(items).reshape(piece.shape))
    return flat


def view_of(flat: torch.Tensor, record: TensorRecord) -> torch.Tensor:
    """Return a strided view of a storage's bytes, without conjugate and negative bits."""
    assert record.stride is not None
    dtype = dtype_of(record.dtype, "the tensor")
    return view_bytes(flat, dtype).as_strided(record.shape, record.stride, record.offset)
