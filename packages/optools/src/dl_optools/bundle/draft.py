"""Bundle that is being captured: what is known of the call, and what remains to be written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dl_optools.bundle.document import Document
from dl_optools.bundle.records import StorageRecord, TensorRecord
from dl_optools.bundle.snapshot import HostStorage, Snapshot


@dataclass
class Addition:
    """Fields and tensors that one moment of a call adds to its bundle.

    :ivar changes: fields of the document, by name.
    """

    draft: Draft
    tensors: list[TensorRecord] = field(default_factory=list)
    storages: list[HostStorage] = field(default_factory=list)
    changes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def nbytes(self) -> int:
        """Return the host memory that it holds, in bytes."""
        return sum(host.data.nbytes for one in self.storages for host in one.pieces)

    def add(self, snapshot: Snapshot, wanted: Sequence[int]) -> int:
        """Add some of a snapshot's tensors.

        :returns: table index of the first added tensor; the other tensors follow in order.
        """
        draft = self.draft
        start = draft.tensor_count
        parts = [x for at in wanted for x in snapshot.records[at].parts.values()]
        positions = [*wanted, *parts]
        index = {position: start + at for at, position in enumerate(positions)}
        storages: dict[int, int] = {}
        for position in positions:
            record = snapshot.records[position]
            if record.storage is None:
                record = replace(record, parts={name: index[x] for name, x in record.parts.items()})
            else:
                if record.storage not in storages:
                    storages[record.storage] = draft.storage_count
                    draft.storage_count += 1
                    self.storages.append(snapshot.storages[record.storage])
                record = replace(record, storage=storages[record.storage])
            self.tensors.append(record)
        draft.tensor_count += len(positions)
        return start


@dataclass(eq=False)
class Draft:
    """Bundle of one call; the program's threads update the counts, the writer thread the document.

    :ivar directory: directory where it is written.
    :ivar dropped: True if nothing more of it is written.
    :ivar length: length of the file on disk.
    :ivar has_gradients: gradients of one backward pass have been added.
    """

    directory: Path
    document: Document
    tensor_count: int = 0
    storage_count: int = 0
    dropped: bool = False
    length: int = 0
    has_gradients: bool = False

    def with_addition(self, addition: Addition, records: Iterable[StorageRecord]) -> Document:
        """Return the document with an addition whose storages have been hashed."""
        return replace(
            self.document,
            tensors=(*self.document.tensors, *addition.tensors),
            storages=(*self.document.storages, *records),
            **addition.changes,
        )
