"""Reading bundles, strictly: what is damaged or hostile is refused before anything is done."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from dl_optools.bundle import payload
from dl_optools.bundle.document import Document, read_document
from dl_optools.bundle.errors import BundleError
from dl_optools.bundle.memory import assemble
from dl_optools.bundle.records import StorageRecord
from dl_optools.bundle.values import dtype_of
from dl_optools.operators import UnknownOperatorError, operator

FILE = "bundle.json"
LARGEST_DOCUMENT = 1 << 26
DEFAULT_LIMIT = 1 << 35
"""Bytes of memory that a bundle may ask for, unless the caller says otherwise: 32 GiB."""


@dataclass(frozen=True)
class Bundle:
    """One call of an operator, verified and in memory.

    :ivar path: of its directory.
    :ivar function: what was called.
    :ivar storages: the bytes of its storages: flat, uint8, on the CPU.
    """

    path: Path
    document: Document
    function: Callable[..., Any]
    storages: tuple[torch.Tensor, ...]


def find(path: Path) -> list[Path]:
    """The bundles at or below a path, in the order of their calls."""
    if path.is_file() or (path / FILE).is_file():
        return [path]
    return sorted((found.parent for found in path.rglob(FILE)), key=lambda x: (x.name, str(x)))


def read(path: Path | str, *, limit: int = DEFAULT_LIMIT) -> Bundle:
    """Read and verify one bundle: its directory, or the ``bundle.json`` in it.

    :param limit: bytes of memory that its tensors may need.
    :raises BundleError: it is missing, damaged, hostile, or its operator is not known here.
    """
    path = Path(path)
    directory = path.parent if path.name == FILE else path
    try:
        return _read(directory, limit)
    except BundleError as error:
        raise BundleError(f"[bundle] {directory}: {error}") from None


def _read(directory: Path, limit: int) -> Bundle:
    file = directory / FILE
    if file.is_symlink() or not file.is_file():
        raise BundleError(f"there is no {FILE}")
    length = file.stat().st_size
    if length > LARGEST_DOCUMENT:
        raise BundleError(f"its {FILE} has {length} bytes, at most {LARGEST_DOCUMENT} make sense")
    try:
        text = file.read_bytes().decode("ascii")
    except UnicodeDecodeError:
        raise BundleError(f"its {FILE} is no text") from None
    document = read_document(text)
    try:
        function = operator(document.operator, document.level)
    except UnknownOperatorError as error:
        raise BundleError(str(error)) from None
    _check_sizes(document, limit)
    storages = tuple(_storage(directory, record) for record in document.storages)
    return Bundle(directory, document, function, storages)


def _check_sizes(document: Document, limit: int) -> None:
    """Before any memory is taken."""
    total = sum(record.nbytes for record in document.storages)
    total += sum(piece.nbytes for record in document.storages for piece in record.pieces)
    if total > limit:
        raise BundleError(f"its storages need {total} bytes of memory, the limit is {limit}")
    for at, tensor in enumerate(document.tensors):
        nbytes = math.prod(tensor.shape) * dtype_of(tensor.dtype, "").itemsize
        # Sparse tensors are as large as their parts.
        if tensor.stride is not None and nbytes > limit:
            raise BundleError(f"tensor {at} has {nbytes} bytes, the limit is {limit}")


def _storage(directory: Path, record: StorageRecord) -> torch.Tensor:
    pieces = []
    for piece in record.pieces:
        data = payload.read(directory, piece.hash, piece.nbytes)
        held = torch.frombuffer(data, dtype=torch.uint8) if data else torch.empty(0).byte()
        pieces.append((piece, held))
    return assemble(record.nbytes, pieces)
