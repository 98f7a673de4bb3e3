"""Layout of the file in which a process records the operators that its threads run.

A file has a fixed number of slots, one per thread. The process maps it into memory: a record costs
two memory writes, and the kernel preserves the pages when the process dies for any reason. Imports
no torch.
"""

from __future__ import annotations

import mmap
import os
import struct
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SLOTS = 64
SLOT_BYTES = 1024
SUFFIX = ".crumbs"
FINISHED, RUNNING, RAISED, LEFT = 0, 1, 2, 3
ONLY_ON_DEVICE = 4
"""Flag of a state: the CPU cannot compute the operator."""
_HEADER = struct.Struct("<IIQQQ")
"""State, length of the text, thread, sequence number, and time of the start in nanoseconds."""
_STATE = struct.Struct("<I")
_ROOM = SLOT_BYTES - _HEADER.size


@dataclass(frozen=True)
class Crumb:
    """Last record of one thread.

    :ivar thread: identifier of :func:`threading.get_ident`, which :mod:`faulthandler` writes.
    :ivar number: counts the records of the process, from 1.
    :ivar state: :data:`FINISHED`, :data:`RUNNING`, :data:`RAISED` (the operator raised an error) or
        :data:`LEFT` (it ended the process by ``os._exit``, ``os.exec...`` or ``sys.exit``).
    :ivar only_on_device: the CPU cannot compute the operator.
    :ivar started: start time of the operator, in seconds of :func:`time.monotonic`.
    :ivar text: name of the operator, followed by its arguments.
    """

    process: int
    thread: int
    number: int
    state: int
    started: float
    text: str
    only_on_device: bool = False

    @property
    def name(self) -> str:
        """Name of the operator: ``aten.mm.default``."""
        return self.text.partition("(")[0].strip()

    @property
    def seconds(self) -> float:
        """Time since the operator started."""
        return time.monotonic() - self.started


class CrumbWriter:
    """Writer of one process's file.

    :param folder: must exist.
    :raises OSError: the file cannot be created.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / f"{os.getpid()}{SUFFIX}"
        size = SLOTS * SLOT_BYTES
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            # Blocks are allocated now: a full disk is an error here, and not a SIGBUS later.
            os.posix_fallocate(descriptor, 0, size)
            self._memory = mmap.mmap(descriptor, size)
        finally:
            os.close(descriptor)
        self._lock = threading.Lock()
        self._free = list(range(SLOTS - 1, -1, -1))
        self._number = 0

    def take(self) -> Slot:
        """Return a slot for the calling thread; threads beyond the last slot share it."""
        with self._lock:
            at = self._free.pop() if self._free else SLOTS - 1
        return Slot(self, at)

    def begin(self, at: int, text: str, flags: int = 0) -> None:
        """Record that an operator starts.

        :param flags: :data:`ONLY_ON_DEVICE` or 0.
        """
        data = text.encode()[:_ROOM]
        start = at * SLOT_BYTES
        memory = self._memory
        self._number = number = self._number + 1
        # A concurrent reader finds no operator rather than half of a record.
        _STATE.pack_into(memory, start, FINISHED)
        memory[start + _HEADER.size : start + _HEADER.size + len(data)] = data
        now = time.monotonic_ns()
        state = RUNNING | flags
        _HEADER.pack_into(memory, start, state, len(data), threading.get_ident(), number, now)

    def end(self, at: int, state: int) -> None:
        """Record how the operator ended."""
        start = at * SLOT_BYTES
        flags = _STATE.unpack_from(self._memory, start)[0] & ONLY_ON_DEVICE
        _STATE.pack_into(self._memory, start, state | flags)

    def leave(self, at: int) -> None:
        """Record that this thread ends the process: if it runs an operator, that is the cause."""
        state, _, thread, _, _ = _HEADER.unpack_from(self._memory, at * SLOT_BYTES)
        if state & ~ONLY_ON_DEVICE == RUNNING and thread == threading.get_ident():
            self.end(at, LEFT)

    def release(self, at: int) -> None:
        """Return the slot of a thread that has ended."""
        with self._lock:
            if at not in self._free:
                self._free.append(at)


class Slot:
    """Slot of one thread; free again when the thread drops it."""

    __slots__ = ("_writer", "at")

    def __init__(self, writer: CrumbWriter, at: int) -> None:
        self._writer, self.at = writer, at

    def __del__(self) -> None:
        self._writer.release(self.at)


def crumbs_of(folder: Path) -> list[Crumb]:
    """Return the last record of each thread of each process, the latest start first."""
    found = [crumb for path in folder.glob(f"*{SUFFIX}") for crumb in _read(path)]
    return sorted(found, key=lambda crumb: crumb.started, reverse=True)


def running(folder: Path, *states: int) -> list[Crumb]:
    """Return the operators that run, or ran when their process died; the longest first.

    :param states: further states of operators to return.
    """
    return [x for x in reversed(crumbs_of(folder)) if x.state in (RUNNING, *states)]


def _read(path: Path) -> Iterator[Crumb]:
    try:
        data = path.read_bytes()
        process = int(path.stem)
    except (OSError, ValueError):
        return
    for start in range(0, len(data) - SLOT_BYTES + 1, SLOT_BYTES):
        state, length, thread, number, started = _HEADER.unpack_from(data, start)
        if not number:
            continue
        text = data[start + _HEADER.size : start + _HEADER.size + min(length, _ROOM)]
        yield Crumb(
            *(process, thread, number, state & ~ONLY_ON_DEVICE, started / 1e9),
            text.decode(errors="replace"),
            only_on_device=bool(state & ONLY_ON_DEVICE),
        )
