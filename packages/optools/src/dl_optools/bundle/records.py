"""Records of tensors in a bundle's JSON: storages, pieces of storages, tensors."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import Any

from dl_optools.bundle.errors import BundleError
from dl_optools.bundle.fields import Fields, count
from dl_optools.bundle.values import device_ref, dtype_of

DIMENSIONS = 64
_HASH = re.compile(r"[0-9a-f]{64}", re.ASCII)
_PARTS = {
    "sparse_coo": ("indices", "values"),
    "sparse_csr": ("crow_indices", "col_indices", "values"),
    "sparse_csc": ("ccol_indices", "row_indices", "values"),
    "sparse_bsr": ("crow_indices", "col_indices", "values"),
    "sparse_bsc": ("ccol_indices", "row_indices", "values"),
}


def sizes(value: Any, where: str) -> tuple[int, ...]:
    if type(value) is not list or len(value) > DIMENSIONS:
        raise BundleError(f"{where} is not a list of at most {DIMENSIONS} sizes")
    return tuple(count(x, where) for x in value)


def span(shape: tuple[int, ...], stride: tuple[int, ...]) -> int:
    """Return the number of elements from the first to the last that a strided tensor reaches."""
    if 0 in shape:
        return 0
    return 1 + sum((n - 1) * step for n, step in zip(shape, stride, strict=True))


@dataclass(frozen=True)
class Piece:
    """Part of a storage: a strided region whose bytes are stored, contiguous, in a payload file.

    :ivar hash: SHA-256 of the bytes, and name of the payload.
    :ivar itemsize: size of the elements that shape, stride and offset count.
    """

    hash: str
    itemsize: int
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    offset: int

    @property
    def nbytes(self) -> int:
        return self.itemsize * math.prod(self.shape)

    def as_json(self) -> dict[str, Any]:
        return {
            "hash": self.hash,
            "itemsize": self.itemsize,
            "shape": list(self.shape),
            "stride": list(self.stride),
            "offset": self.offset,
        }

    @classmethod
    def read(cls, value: Any, where: str) -> Piece:
        fields = Fields(value, where)
        found = cls(
            hash_of(fields.take("hash", str), where),
            count(fields.anything("itemsize"), where),
            sizes(fields.anything("shape"), where),
            sizes(fields.anything("stride"), where),
            count(fields.anything("offset"), where),
        )
        fields.done()
        if found.itemsize not in (1, 2, 4, 8, 16) or len(found.shape) != len(found.stride):
            raise BundleError(f"{where} describes no memory")
        return found


def hash_of(text: str, where: str) -> str:
    if not _HASH.fullmatch(text):
        raise BundleError(f"{where}: {text[:80]!r} is not a SHA-256")
    return text


@dataclass(frozen=True)
class StorageRecord:
    """Memory that tensors share, up to the end of its last piece.

    Bytes outside of all pieces are 0: no tensor reaches them.
    """

    nbytes: int
    pieces: tuple[Piece, ...]

    def as_json(self) -> dict[str, Any]:
        return {"nbytes": self.nbytes, "pieces": [piece.as_json() for piece in self.pieces]}

    @classmethod
    def read(cls, value: Any, where: str) -> StorageRecord:
        fields = Fields(value, where)
        nbytes = count(fields.anything("nbytes"), where)
        found = cls(nbytes, fields.items("pieces", Piece.read))
        fields.done()
        end = 0
        for piece in found.pieces:
            reach = (piece.offset + span(piece.shape, piece.stride)) * piece.itemsize
            if reach > nbytes:
                raise BundleError(f"a piece of {where} reaches outside of its {nbytes} bytes")
            end = max(end, reach)
        if nbytes > end:
            raise BundleError(f"{where} has {nbytes} bytes, its pieces end after {end}")
        return found


@dataclass(frozen=True)
class TensorRecord:
    """One tensor. Strided tensors are views of a storage; sparse ones consist of other tensors.

    :ivar stride: in elements, like ``offset``; None for sparse tensors.
    :ivar leaf: a leaf of autograd's graph. Other tensors may be written to in place.
    :ivar parts: the tensors of a sparse one: indices into the table.
    """

    layout: str
    dtype: str
    shape: tuple[int, ...]
    device: str
    requires_grad: bool
    leaf: bool
    storage: int | None = None
    stride: tuple[int, ...] | None = None
    offset: int = 0
    conj: bool = False
    neg: bool = False
    parts: dict[str, int] = field(default_factory=dict)
    coalesced: bool = False

    def as_json(self) -> dict[str, Any]:
        found: dict[str, Any] = {
            "layout": self.layout,
            "dtype": self.dtype,
            "shape": list(self.shape),
            "device": self.device,
            "requires_grad": self.requires_grad,
            "leaf": self.leaf,
        }
        if self.stride is None:
            return {**found, "parts": self.parts, "coalesced": self.coalesced}
        return {
            **found,
            "storage": self.storage,
            "stride": list(self.stride),
            "offset": self.offset,
            "conj": self.conj,
            "neg": self.neg,
        }

    @classmethod
    def read(cls, value: Any, where: str) -> TensorRecord:
        fields = Fields(value, where)
        layout = fields.take("layout", str)
        common: dict[str, Any] = {
            "layout": layout,
            "dtype": fields.take("dtype", str),
            "shape": sizes(fields.anything("shape"), where),
            "device": device_ref(fields.anything("device"), where).name,
            "requires_grad": fields.take("requires_grad", bool),
            "leaf": fields.take("leaf", bool),
        }
        dtype = dtype_of(common["dtype"], where)
        if common["requires_grad"] and not (dtype.is_floating_point or dtype.is_complex):
            raise BundleError(f"{where} is of {common['dtype']}, which has no gradient")
        if layout == "strided":
            found = cls(
                **common,
                storage=count(fields.anything("storage"), where),
                stride=sizes(fields.anything("stride"), where),
                offset=count(fields.anything("offset"), where),
                conj=fields.take("conj", bool),
                neg=fields.take("neg", bool),
            )
        elif layout in _PARTS:
            parts = Fields(fields.anything("parts"), f"parts of {where}")
            found = cls(
                **common,
                parts={name: count(parts.anything(name), where) for name in _PARTS[layout]},
                coalesced=fields.take("coalesced", bool),
            )
            parts.done()
        else:
            raise BundleError(f"{where} has the layout {layout!r}")
        fields.done()
        return found
