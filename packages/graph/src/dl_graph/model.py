"""Verified graphs: loading, memory plans, tilings and saving."""

from __future__ import annotations

import copy
import errno
import json
import os
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from diopi_proto.atomic_file import replace_atomically
from diopi_proto.errors import OutOfMemoryError
from diopi_proto.foreign_file import check_regular
from diopi_proto.host.cabi import text
from diopi_proto.host.structs import CData

from .errors import GraphError
from .file import repack
from .native import constants, ffi, native


@dataclass(frozen=True)
class PlanReport:
    """Memory plan of the temporaries of an entry, in bytes.

    :ivar offsets: offsets of the used temporaries, by index of the storage.
    :ivar bytes: size of the block that holds the temporaries.
    :ivar most_live: maximum number of bytes live at once, a lower bound for every plan.
    :ivar apart: number of bytes if temporaries did not share memory.
    """

    offsets: Mapping[int, int]
    bytes: int
    most_live: int
    apart: int


@dataclass(frozen=True)
class TilingReport:
    """Groups of an entry's calls that run block by block on a device that computes in host memory.

    :ivar groups: the indices of the calls of each group.
    :ivar blocks: the number of blocks of each group.
    :ivar reasons: why other calls are not in a group, by index.
    :ivar bytes: size of the entry's temporaries, without those that are local to groups.
    """

    groups: tuple[range, ...]
    blocks: tuple[int, ...]
    reasons: Mapping[int, str]
    bytes: int


class ContractGraph:
    """Verified graph, created by :func:`load`, :func:`read` and :meth:`GraphBuilder.build`.

    :param handle: ``dl_contract_graph_t*``, which this object closes.
    :ivar name: the path, or the name of the graph in messages.
    :ivar document: the content of the file, which must not be changed.
    """

    def __init__(self, handle: CData, name: str) -> None:
        self.name = name
        self.handle = handle
        """Return the ``dl_contract_graph_t*``, valid as long as this object."""
        weakref.finalize(self, native().dl_contract_graph_close, handle).atexit = False
        self.document: Mapping[str, Any] = json.loads(ffi.string(handle.text))

    @property
    def nbytes(self) -> int:
        """Return the length of the file in bytes."""
        return int(self.handle.count)

    @property
    def content(self) -> bytes:
        """Return a copy of the bytes of the file."""
        return bytes(self._view())

    def _view(self) -> memoryview:
        """Return the bytes of the file, valid as long as this object."""
        return memoryview(ffi.buffer(self.handle.bytes, self.nbytes))

    @property
    def entries(self) -> tuple[str, ...]:
        """Return the names of the entries."""
        return tuple(sorted(self.document["entries"], key=str.encode))

    def entry(self, name: str) -> Mapping[str, Any]:
        """Return the description of an entry in the file.

        :raises GraphError: the graph has no entry of that name.
        """
        found = self.document["entries"].get(name)
        if found is None:
            raise GraphError(f"{self.name} has no entry {name!r}; it has {', '.join(self.entries)}")
        return found  # type: ignore[no-any-return]

    def number(self, name: str) -> int:
        """Return the index of an entry.

        :raises GraphError: the graph has no entry of that name.
        """
        self.entry(name)
        return self.entries.index(name)

    def plan(self, entry: str, **sizes: int) -> PlanReport:
        """Return the memory plan of an entry.

        :param sizes: sizes of its symbols (default: the largest ones).
        :raises GraphError: a guard does not hold, or a size is outside its range.
        """
        values = self._sizes(entry, sizes)
        count = len(self.entry(entry)["storages"])
        offsets = ffi.new("int64_t[]", count + 1)
        plan = ffi.new("dl_contract_plan_t*")
        plan.struct_size = ffi.sizeof("dl_contract_plan_t")
        raise_status(
            native().dl_contract_graph_plan(
                self.handle,
                self.number(entry),
                ffi.new("int64_t[]", [*values, 0]),
                len(values),
                offsets,
                count,
                plan,
            )
        )
        placed = {i: int(offsets[i]) for i in range(count) if offsets[i] >= 0}
        return PlanReport(placed, int(plan.bytes), int(plan.most_live), int(plan.apart))

    def _sizes(self, entry: str, sizes: Mapping[str, int]) -> list[int]:
        """Return one size per symbol of an entry, in the order of the symbols."""
        symbols = self.entry(entry)["symbols"]
        unknown = sizes.keys() - {symbol["name"] for symbol in symbols}
        if unknown:
            raise GraphError(f"{self.name}: entry {entry} has no symbol {', '.join(unknown)}")
        return [int(sizes.get(symbol["name"], symbol["max"])) for symbol in symbols]

    def tiling(self, entry: str, *, cache: int = 0, **sizes: int) -> TilingReport:
        """Return the calls of an entry that run block by block.

        :param cache: assumed cache size in bytes; 0 for the cache size of this machine.
        :param sizes: see :meth:`plan`.
        :raises GraphError: see :meth:`plan`.
        """
        values = self._sizes(entry, sizes)
        count = len(self.entry(entry)["calls"])
        calls = ffi.new("dl_contract_call_tiling_t[]", count + 1)
        total = ffi.new("int64_t*")
        raise_status(
            native().dl_contract_graph_tiling(
                self.handle,
                self.number(entry),
                ffi.new("int64_t[]", [*values, 0]),
                len(values),
                cache,
                calls,
                count,
                total,
            )
        )
        members: dict[int, list[int]] = {}
        reasons = {}
        for number in range(count):
            if calls[number].group < 0:
                reasons[number] = text(calls[number].reason)
            else:
                members.setdefault(int(calls[number].group), []).append(number)
        groups = [members[group] for group in sorted(members)]
        return TilingReport(
            tuple(range(each[0], each[-1] + 1) for each in groups),
            tuple(int(calls[each[0]].blocks) for each in groups),
            reasons,
            int(total[0]),
        )

    def with_plan(self, entry: str, **sizes: int) -> ContractGraph:
        """Return the graph with a stored plan of an entry for these sizes, which sessions verify
        and use instead of planning.

        :param sizes: see :meth:`plan`.
        :raises GraphError: see :meth:`plan`.
        """
        plan = self.plan(entry, **sizes)
        document = copy.deepcopy(dict(self.document))
        changed = document["entries"][entry]
        values = [int(sizes.get(s["name"], s["max"])) for s in changed["symbols"]]
        offsets = [plan.offsets.get(i, -1) for i in range(len(changed["storages"]))]
        others = [each for each in changed["plans"] if each["sizes"] != values]
        made = {"sizes": values, "offsets": offsets, "bytes": plan.bytes}
        changed["plans"] = [*others, made]
        return read(repack(self.content, document), self.name)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file atomically: readers see either the old or the new file.

        :raises FileExistsError: the path is not a regular file, such as a device or a pipe.
        :raises OSError: the file cannot be written.
        """
        target = Path(path)
        if target.exists() and not target.is_file():
            reason = "is not a regular file and is not replaced"
            raise FileExistsError(errno.EEXIST, reason, str(target))
        with replace_atomically(target) as temporary:
            temporary.write_bytes(self._view())

    def __repr__(self) -> str:
        return f"ContractGraph({self.name!r}, entries={list(self.entries)})"


def load(path: str | os.PathLike[str]) -> ContractGraph:
    """Open and verify a ``.dlg`` file. Its constants are mapped: they take memory when used.

    :raises GraphError: the file is damaged or invalid, or was made for another contract.
    :raises OSError: the file cannot be read, or is not a regular file.
    """
    name = os.fspath(path)
    # Raises the right type of exception. The opened file is checked again.
    check_regular(name)
    out = ffi.new("dl_contract_graph_t**")
    raise_status(native().dl_contract_graph_open(os.fsencode(name), out))
    return ContractGraph(out[0], name)


def read(content: bytes, name: str = "a graph") -> ContractGraph:
    """Verify the bytes of a ``.dlg`` file.

    :param name: name of the graph in messages.
    :raises GraphError: see :func:`load`.
    """
    content = bytes(content)
    out = ffi.new("dl_contract_graph_t**")
    raise_status(native().dl_contract_graph_read(content, len(content), name.encode(), out))
    return ContractGraph(out[0], name)


def raise_status(status: CData) -> None:
    """Raise an exception for a status, and release it; NULL means success.

    :raises GraphError: an operation failed; OutOfMemoryError if memory was exhausted.
    """
    if status == ffi.NULL:
        return
    code, message = int(status.code), text(status.message)
    status.release(status)
    if code == constants.DL_OUT_OF_MEMORY:
        raise OutOfMemoryError(message, code=code, operation="graph", vendor="")
    raise GraphError(message)
