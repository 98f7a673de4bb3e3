"""Copies of tensors' memory on the host at one moment.

Only the part of a storage that the tensors reach is copied, once even if several tensors reach it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from dl_optools.bundle.errors import NotStorableError
from dl_optools.bundle.memory import assemble, view_of
from dl_optools.bundle.records import DIMENSIONS, Piece, StorageRecord, TensorRecord, span
from dl_optools.relocation import _plain
from dl_optools.tensors import grad_fn_of

ALIGNMENT = 16
"""Alignment of storages, so that views of every dtype begin at whole elements."""
_GAPS = 0.75
"""If tensors cover less than this share of the range between them, they are stored separately."""
_SPARSE = {
    torch.sparse_coo: ("_indices", "_values"),
    torch.sparse_csr: ("crow_indices", "col_indices", "values"),
    torch.sparse_csc: ("ccol_indices", "row_indices", "values"),
    torch.sparse_bsr: ("crow_indices", "col_indices", "values"),
    torch.sparse_bsc: ("ccol_indices", "row_indices", "values"),
}


@dataclass
class HostPiece:
    """A piece of a storage and its bytes, before hashing."""

    piece: Piece
    data: torch.Tensor


@dataclass
class HostStorage:
    """A storage as it will be written to a bundle, before hashing."""

    nbytes: int
    pieces: list[HostPiece]

    def equals(self, other: HostStorage) -> bool:
        """Return True if both have the same bytes at the same offsets."""
        return (
            self.nbytes == other.nbytes
            and len(self.pieces) == len(other.pieces)
            and all(
                one.piece == two.piece and torch.equal(one.data, two.data)
                for one, two in zip(self.pieces, other.pieces, strict=True)
            )
        )

    def record(self, hashes: Iterable[str]) -> StorageRecord:
        pieces = zip(self.pieces, hashes, strict=True)
        return StorageRecord(
            self.nbytes, tuple(replace(host.piece, hash=digest) for host, digest in pieces)
        )


@dataclass(frozen=True)
class _Region:
    """Region that one tensor reaches, in elements; sizes of 1 and strides of 0 are left out."""

    itemsize: int
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    offset: int

    @classmethod
    def of(cls, plain: torch.Tensor) -> _Region:
        dimensions = [
            (int(n), int(step))
            for n, step in zip(plain.size(), plain.stride(), strict=True)
            if n != 1 and step != 0
        ]
        if plain.numel() == 0:
            dimensions = [(0, 1)]
        return cls(
            plain.element_size(),
            tuple(n for n, _ in dimensions),
            tuple(step for _, step in dimensions),
            int(plain.storage_offset()),
        )

    @property
    def nbytes(self) -> int:
        return self.itemsize * math.prod(self.shape)

    @property
    def first(self) -> int:
        return self.offset * self.itemsize

    @property
    def last(self) -> int:
        return (self.offset + span(self.shape, self.stride)) * self.itemsize


def _key(plain: torch.Tensor) -> int:
    return int(plain.untyped_storage()._cdata)


def _device(tensor: torch.Tensor) -> str:
    return str(tensor.device)


class Snapshot:
    """The current memory of some tensors.

    :param tensors: without duplicates.
    :ivar records: one for each tensor, then one for each part of a sparse tensor; parts are
        strided.
    :ivar storages: the storages that the records refer to by index.
    :raises NotStorableError: a bundle cannot store a tensor of this kind.
    """

    def __init__(self, tensors: Sequence[torch.Tensor]) -> None:
        self.records: list[TensorRecord] = []
        self.storages: list[HostStorage] = []
        self._plain: list[torch.Tensor | None] = []
        for tensor in tensors:
            _require_plain_kind(tensor)
        parts: list[dict[str, torch.Tensor]] = []
        for tensor in tensors:
            names = _SPARSE.get(tensor.layout, ())
            own = tensor.detach()
            parts.append({name.lstrip("_"): getattr(own, name)() for name in names})
        inner = [part for named in parts for part in named.values()]
        strided = [x for x in tensors if x.layout == torch.strided] + inner
        plain = {id(x): _plain(x) for x in strided}
        numbers = self._copy(list(plain.values()))
        position = len(tensors)
        for tensor, named in zip(tensors, parts, strict=True):
            if named:
                indices = {name: position + at for at, name in enumerate(named)}
                position += len(named)
                self.records.append(_sparse(tensor, indices))
            else:
                self.records.append(self._strided(tensor, plain[id(tensor)], numbers))
        self.records += [self._strided(part, plain[id(part)], numbers) for part in inner]

    @property
    def nbytes(self) -> int:
        """Return the size on the host in bytes."""
        return sum(host.data.nbytes for one in self.storages for host in one.pieces)

    def same(self, at: int, other: Snapshot, other_at: int) -> bool:
        """Return True if a tensor has the shape, strides and bytes of a tensor in another
        snapshot."""
        one, two = self.records[at], other.records[other_at]
        if (one.shape, one.stride, one.dtype) != (two.shape, two.stride, two.dtype):
            return False
        if one.storage is None or two.storage is None:
            return all(self.same(one.parts[x], other, two.parts[x]) for x in one.parts)
        mine, theirs = self.storages[one.storage], other.storages[two.storage]
        if one.offset == two.offset and mine.equals(theirs):
            return True
        return _bytes(mine, one).equal(_bytes(theirs, two))

    def _copy(self, tensors: list[torch.Tensor]) -> dict[int, tuple[int, int]]:
        """Copy all storages; return for each its index and the byte offset of its copy."""
        groups: dict[int, list[torch.Tensor]] = {}
        for plain in tensors:
            groups.setdefault(_key(plain), []).append(plain)
        numbers: dict[int, tuple[int, int]] = {}
        for key, group in groups.items():
            windows = {_Region.of(plain): plain for plain in group}
            reached = [region for region in windows if region.nbytes]
            first = min((region.first for region in reached), default=0)
            first -= first % ALIGNMENT
            last = max((region.last for region in reached), default=first)
            numbers[key] = (len(self.storages), first)
            # Overlapping rows are counted more than once; detecting them is not worth the effort.
            if sum(region.nbytes for region in reached) >= _GAPS * (last - first):
                reached = _whole(reached)
            pieces = [_fetch(region, windows, group, first) for region in reached]
            self.storages.append(HostStorage(last - first, pieces))
        return numbers

    def _strided(
        self, tensor: torch.Tensor, plain: torch.Tensor, numbers: dict[int, tuple[int, int]]
    ) -> TensorRecord:
        number, first = numbers[_key(plain)]
        size = plain.element_size()
        empty = plain.numel() == 0
        return TensorRecord(
            layout="strided",
            dtype=str(tensor.dtype).removeprefix("torch."),
            shape=tuple(int(n) for n in tensor.size()),
            device=_device(tensor),
            requires_grad=tensor.requires_grad,
            leaf=grad_fn_of(tensor) is None,
            storage=number,
            stride=tuple(int(n) for n in tensor.stride()),
            offset=0 if empty else int(plain.storage_offset()) - first // size,
            conj=tensor.is_conj(),
            neg=tensor.is_neg(),
        )


def _require_plain_kind(tensor: torch.Tensor) -> None:
    kind = type(tensor)
    name = kind.__qualname__
    if kind not in (torch.Tensor, torch.nn.Parameter, torch.nn.Buffer):
        raise NotStorableError(f"an argument is a tensor of the class {name}")
    if torch._C._functorch.is_functorch_wrapped_tensor(tensor):
        raise NotStorableError("an argument belongs to a function transform")
    if tensor.is_quantized or tensor.is_nested or tensor.device.type == "meta":
        raise NotStorableError("an argument is a quantized, nested or meta tensor")
    if tensor.layout != torch.strided and tensor.layout not in _SPARSE:
        raise NotStorableError(f"an argument has the layout {tensor.layout}")
    if tensor.dim() > DIMENSIONS or any(
        not isinstance(n, int) for n in (*tensor.size(), *_steps(tensor))
    ):
        raise NotStorableError("an argument has unknown sizes")


def _steps(tensor: torch.Tensor) -> tuple[Any, ...]:
    return tuple(tensor.stride()) if tensor.layout == torch.strided else ()


def _sparse(tensor: torch.Tensor, parts: dict[str, int]) -> TensorRecord:
    return TensorRecord(
        layout=str(tensor.layout).removeprefix("torch."),
        dtype=str(tensor.dtype).removeprefix("torch."),
        shape=tuple(int(n) for n in tensor.size()),
        device=_device(tensor),
        requires_grad=tensor.requires_grad,
        leaf=grad_fn_of(tensor) is None,
        parts=parts,
        coalesced=tensor.layout == torch.sparse_coo and tensor.is_coalesced(),
    )


def _whole(regions: list[_Region]) -> list[_Region]:
    """Return one region from the first to the last byte, in the smallest element size."""
    if not regions:
        return []
    size = min(region.itemsize for region in regions)
    first = min(region.first for region in regions)
    last = max(region.last for region in regions)
    return [_Region(size, ((last - first) // size,), (1,), first // size)]


def _fetch(
    region: _Region, windows: dict[_Region, torch.Tensor], group: list[torch.Tensor], first: int
) -> HostPiece:
    window = windows.get(region)
    if window is None:
        window = next(x for x in group if x.element_size() == region.itemsize)
    window = window.as_strided(region.shape, region.stride, region.offset)
    if window.device.type == "cpu":
        there = window.clone(memory_format=torch.contiguous_format)
    else:
        there = window.contiguous().to("cpu")
    piece = Piece(
        hash="",
        itemsize=region.itemsize,
        shape=region.shape,
        stride=region.stride,
        offset=region.offset - first // region.itemsize,
    )
    return HostPiece(piece, there.reshape(-1).view(torch.uint8))


def _bytes(storage: HostStorage, record: TensorRecord) -> torch.Tensor:
    """Return the copied bytes of a tensor."""
    flat = assemble(storage.nbytes, ((host.piece, host.data) for host in storage.pieces))
    return view_of(flat, record).contiguous().reshape(-1).view(torch.uint8)
