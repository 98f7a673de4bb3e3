"""Strict reader of bundles: damaged or hostile ones are refused before anything is done."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from diopi_proto.foreign_file import read_regular
from dl_optools.bundle import payload
from dl_optools.bundle.document import Document, read_document
from dl_optools.bundle.errors import BundleError
from dl_optools.bundle.location import FILE
from dl_optools.bundle.memory import assemble
from dl_optools.bundle.records import Piece, StorageRecord
from dl_optools.bundle.sizes import Use, largest_tensor, memory_needed
from dl_optools.bundle.unsafe_calls import find_risk
from dl_optools.isolation.limits import default_memory
from dl_optools.operators import UnknownOperatorError, operator
from dl_optools.options import nbytes_text

LARGEST_DOCUMENT = 1 << 26


@dataclass(frozen=True)
class Bundle:
    """One call of an operator, verified and in memory.

    :ivar path: path of its directory.
    :ivar function: the function or overload that was called.
    :ivar storages: bytes of its storages: flat, uint8, on the CPU.
    """

    path: Path
    document: Document
    function: Callable[..., Any]
    storages: tuple[torch.Tensor, ...]


def read(
    path: Path | str, *, limit: int | None = None, use: Use = Use.READ, trusted: bool = False
) -> Bundle:
    """Read and verify one bundle: its directory, or the ``bundle.json`` in it.

    :param limit: maximum memory in bytes; None: half of what is free.
    :param use: purpose; it determines how much memory the tensors need.
    :param trusted: also accept a call that bypasses torch's checks.
    :raises BundleError: it is missing, damaged, hostile, or its operator is unknown.
    """
    path = Path(path)
    directory = path.parent if path.name == FILE else path
    try:
        return _read(directory, default_memory() if limit is None else limit, use, trusted)
    except BundleError as error:
        raise BundleError(f"[bundle] {directory}: {error}") from None


def _read(directory: Path, limit: int, use: Use, trusted: bool) -> Bundle:
    file = directory / FILE
    try:
        # A symbolic link could point anywhere.
        text = read_regular(file, LARGEST_DOCUMENT, follow_links=False).decode("ascii")
    except FileNotFoundError:
        raise BundleError(f"there is no {FILE}") from None
    except UnicodeDecodeError:
        raise BundleError(f"its {FILE} is not text") from None
    except OSError as error:
        raise BundleError(f"its {FILE} cannot be read: {error.strerror}") from None
    document = read_document(text)
    try:
        function = operator(document.operator, document.level)
    except UnknownOperatorError as error:
        raise BundleError(str(error)) from None
    unsafe = find_risk(function, document.operator, document.args, document.kwargs)
    if unsafe and not trusted:
        raise BundleError(
            f"{unsafe}: it may read and write memory outside of its tensors; --trusted runs it "
            "nevertheless"
        )
    _check_sizes(document, limit, use)
    storages = tuple(_storage(directory, record) for record in document.storages)
    return Bundle(directory, document, function, storages)


def _check_sizes(document: Document, limit: int, use: Use) -> None:
    """Check sizes before any memory is allocated."""
    at, largest = largest_tensor(document)
    if largest > limit:
        raise BundleError(
            f"tensor {at} has {nbytes_text(largest)}, the limit is {nbytes_text(limit)} "
            "(--memory-limit)"
        )
    need = memory_needed(document, use)
    if need > limit:
        raise BundleError(
            f"to {use.value} it takes {nbytes_text(need)} of memory, the limit is "
            f"{nbytes_text(limit)} (--memory-limit)"
        )


def _storage(directory: Path, record: StorageRecord) -> torch.Tensor:
    return assemble(record.nbytes, _payloads(directory, record))


def _payloads(directory: Path, record: StorageRecord) -> Iterator[tuple[Piece, torch.Tensor]]:
    """Yield one payload at a time: memory holds no more than the storage and one piece."""
    for piece in record.pieces:
        data = payload.read(directory, piece.hash, piece.nbytes)
        yield piece, torch.frombuffer(data, dtype=torch.uint8) if data else torch.empty(0).byte()
