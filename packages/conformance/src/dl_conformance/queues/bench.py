"""Streams, events and memory of one device, used through the slots of the vendor's table.

No method waits unless its docstring says so: a check decides what is enqueued and which slot has to
wait for it. Blocks hold one repeated byte, so that a single value shows which of several writes
came last.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Any
from weakref import WeakSet

import numpy as np

from diopi_proto import OutOfMemoryError, Vendor
from diopi_proto.errors import DiopiError
from diopi_proto.host.cabi import constants, ffi
from dl_conformance.checks.check import SkipError

CELL = 4096
"""Default size of a block in bytes."""
LOAD = 4 << 20
"""Size in bytes of the blocks that the shortest long work writes."""
LARGER = 6
"""Number of levels of long work that write more blocks, and then of those that write larger ones;
calling a slot takes longer than a fast device needs for a small block."""
FIRST_LEVEL = 4
LAST_LEVEL = 12
"""Longest work: 64 blocks of 256 MiB."""
TICKS = (201, 202)
"""Values that show the end of long work, alternately."""
NOT_ARRIVED = 0xFF
"""Value of host memory before a download; no block gets it."""
MIXED = -1
"""Value of a block whose bytes differ."""

TO_DEVICE: int = constants.DL_COPY_HOST_TO_DEVICE
TO_HOST: int = constants.DL_COPY_DEVICE_TO_HOST
WITHIN: int = constants.DL_COPY_DEVICE_TO_DEVICE

Bytes = np.ndarray[Any, np.dtype[np.uint8]]


@dataclass(frozen=True)
class Block:
    """Device memory."""

    address: int
    nbytes: int


@dataclass(frozen=True, eq=False)
class Stream:
    """A stream of the vendor; the default one has the pointer NULL.

    :ivar tick: block that the last long work writes at its end, and the value.
    """

    pointer: Any
    tick: list[tuple[Block, int]]


@dataclass(frozen=True, eq=False)
class Event:
    """An event of the vendor."""

    pointer: Any


_BUSY: WeakSet[Vendor] = WeakSet()
"""Vendors with a stream that was observed to be busy."""
_NEVER_BUSY: WeakSet[Vendor] = WeakSet()
"""Vendors that even the longest work did not keep busy, cached for all checks."""


class Bench:
    """A context manager that waits for everything and frees it at its end.

    :ivar synchronous: the vendor claims that work is finished when a call returns.
    :ivar free: stream that waits for nothing else.
    """

    def __init__(self, vendor: Vendor, device: int = 0) -> None:
        self.vendor, self.device, self.slots = vendor, device, vendor.slots
        self.synchronous = vendor.synchronous
        self.default = Stream(ffi.NULL, [])
        self._level = FIRST_LEVEL
        self._blocks: list[Block] = []
        self._streams: list[Stream] = []
        self._events: list[Event] = []
        self._pinned: list[Any] = []
        self._arrays: list[Bytes] = []
        self._sources: dict[int, Block] = {}
        self._loads: list[Block] = []

    def __enter__(self) -> Bench:
        """
        :raises SkipError: nothing can show that the only stream is busy.
        """
        if not (self.synchronous or self.has("stream_create")):
            raise SkipError("stream_create is optional, and the library does not provide it")
        self._first = self.block()
        self.default.tick.append((self.block(), TICKS[0]))
        self.free = self.stream()
        nbytes = CELL if self.synchronous else LOAD
        self._loads = [self.block(nbytes) for _ in range(2)]
        for value in TICKS:
            self.source(value)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # An error during cleanup must not hide the original exception.
        with suppress(*(() if error is None else (DiopiError,))):
            self.settle()
            for event in [*self._events]:
                self.destroy_event(event)
            for stream in [*self._streams]:
                self.destroy_stream(stream)
            for block in self._blocks:
                self.slots.call("memory_free", self.device, ffi.cast("void*", block.address))
            for memory in self._pinned:
                self.slots.call("host_free", memory)

    def has(self, slot: str) -> bool:
        """Return True if the table has a slot."""
        return self.slots.has(slot)

    # Memory.

    def block(self, nbytes: int = CELL) -> Block:
        """Allocate device memory."""
        memory = ffi.new("void**")
        self.slots.call("memory_allocate", self.device, nbytes, memory)
        found = Block(int(ffi.cast("uintptr_t", memory[0])), nbytes)
        self._blocks.append(found)
        return found

    def pageable(self, value: int = NOT_ARRIVED, nbytes: int = CELL) -> Bytes:
        """Return ordinary host memory that lives as long as the bench."""
        found = np.full(nbytes, value, np.uint8)
        self._arrays.append(found)
        return found

    def pinned(self, value: int = NOT_ARRIVED, nbytes: int = CELL) -> Bytes:
        """Return page-locked host memory that lives as long as the bench."""
        memory = ffi.new("void**")
        self.slots.call("host_allocate", nbytes, memory)
        self._pinned.append(memory[0])
        found = np.frombuffer(ffi.buffer(memory[0], nbytes), np.uint8)
        found[:] = value
        return found

    def source(self, value: int) -> Block:
        """Return a block that holds a value; work that was enqueued before is finished."""
        if value not in self._sources:
            self._sources[value] = self.write(self.block(), value)
        return self._sources[value]

    def write(self, block: Block, value: int) -> Block:
        """Write a block; everything is finished on return."""
        # On the default stream, where a vendor may have enqueued the initialization of the block.
        self.upload(block, self.pageable(value, block.nbytes), self.default)
        self.settle()
        return block

    # Enqueued work.

    def upload(self, block: Block, array: Bytes, stream: Stream) -> None:
        """Copy host memory to a block."""
        self._copy(block.address, array.ctypes.data, block.nbytes, TO_DEVICE, stream)

    def download(self, array: Bytes, block: Block, stream: Stream) -> None:
        """Copy a block to host memory."""
        self._copy(array.ctypes.data, block.address, block.nbytes, TO_HOST, stream)

    def copy(self, target: Block, source: Block, stream: Stream) -> None:
        """Copy a block to another block of at least its size."""
        self._copy(target.address, source.address, source.nbytes, WITHIN, stream)

    def fill(self, block: Block, value: int, stream: Stream) -> None:
        """Set all bytes of a block; `memory_set` is optional."""
        where = ffi.cast("void*", block.address)
        self.slots.call("memory_set", self.device, where, value, block.nbytes, stream.pointer)

    def lengthen(self) -> bool:
        """Make long work longer; return False if it is the longest already."""
        if self._level == LAST_LEVEL or self.vendor in _NEVER_BUSY:
            if self.vendor not in _BUSY:
                _NEVER_BUSY.add(self.vendor)
            return False
        self._level += 1
        nbytes = LOAD << self._enlarged()
        if self._loads[0].nbytes < nbytes:
            with suppress(OutOfMemoryError):  # a small device takes longer for smaller blocks
                self._loads = [self.block(nbytes) for _ in range(2)]
        return True

    @property
    def level(self) -> int:
        """Length of long work: each level takes about twice as long as the one before."""
        return self._level

    def _enlarged(self) -> int:
        """Return how often the blocks of long work were doubled."""
        return min(max(self._level - LARGER, 0), LARGER)

    def load(self, stream: Stream, kind: str = "") -> None:
        """Enqueue long work, whose end :meth:`is_busy` observes.

        :param kind: ``fill`` or ``copy``; empty: what the table has.
        """
        kind = kind or ("fill" if self.has("memory_set") else "copy")
        block, value = stream.tick.pop()
        value = TICKS[value == TICKS[0]]
        stream.tick.append((block, value))
        for unit in range(1 << (self._level - self._enlarged())):
            if kind == "fill":
                self.fill(self._loads[0], unit % 251, stream)
            else:
                self.copy(self._loads[unit % 2], self._loads[1 - unit % 2], stream)
        if kind == "fill":
            self.fill(block, value, stream)
        else:
            self.copy(block, self.source(value), stream)

    def mark(self, block: Block, value: int, stream: Stream) -> None:
        """Enqueue long work and then a write of a value, which shows that the work is finished."""
        source = self.source(value)
        self.load(stream)
        self.copy(block, source, stream)

    # Streams and events.

    def stream(self, priority: int = 0) -> Stream:
        """Create a stream; a synchronous vendor without streams gets the default stream."""
        if self.synchronous and not self.has("stream_create"):
            return self.default
        pointer = ffi.new("void**")
        self.slots.call("stream_create", self.device, priority, pointer)
        self._streams.append(self._new_stream(pointer[0]))
        return self._streams[-1]

    def adopt(self, pointer: Any) -> Stream:
        """Return a stream that its owner destroys."""
        return self._new_stream(pointer)

    def _new_stream(self, pointer: Any) -> Stream:
        return Stream(pointer, [(self.block(), TICKS[0])])

    def destroy_stream(self, stream: Stream) -> None:
        self._streams.remove(stream)
        self.slots.call("stream_destroy", self.device, stream.pointer)

    def wait_for_stream(self, stream: Stream) -> None:
        """Call the slot that waits for a stream."""
        if self.has("stream_synchronize"):
            self.slots.call("stream_synchronize", self.device, stream.pointer)
        else:
            self.slots.call("device_synchronize", self.device)

    def is_finished(self, stream: Stream) -> bool:
        """Return what `stream_query` reports."""
        finished = ffi.new("int32_t*")
        self.slots.call("stream_query", self.device, stream.pointer, finished)
        return bool(finished[0])

    def wait_for_event(self, stream: Stream, event: Event) -> None:
        """Let later work of a stream wait for an event."""
        self.slots.call("stream_wait_event", self.device, stream.pointer, event.pointer)

    def event(self, *, timing: bool = False) -> Event:
        pointer = ffi.new("void**")
        flags = constants.DL_EVENT_TIMING if timing else 0
        self.slots.call("event_create", self.device, flags, pointer)
        self._events.append(Event(pointer[0]))
        return self._events[-1]

    def destroy_event(self, event: Event) -> None:
        self._events.remove(event)
        self.slots.call("event_destroy", self.device, event.pointer)

    def record(self, event: Event, stream: Stream) -> None:
        self.slots.call("event_record", self.device, event.pointer, stream.pointer)

    def event_is_finished(self, event: Event) -> bool:
        """Return what `event_query` reports."""
        finished = ffi.new("int32_t*")
        self.slots.call("event_query", self.device, event.pointer, finished)
        return bool(finished[0])

    def synchronize_event(self, event: Event) -> None:
        self.slots.call("event_synchronize", self.device, event.pointer)

    def elapsed(self, start: Event, end: Event) -> float:
        """Return what `event_elapsed` reports, in milliseconds."""
        milliseconds = ffi.new("double*")
        arguments = (start.pointer, end.pointer, milliseconds)
        self.slots.call("event_elapsed", self.device, *arguments)
        return float(milliseconds[0])

    # Observation.

    def read(self, block: Block, stream: Stream) -> int:
        """Return the value of a block by a blocking download on a stream.

        :returns: ``NOT_ARRIVED`` if the download did not block, ``MIXED`` for different bytes.
        """
        array = self.pageable(nbytes=block.nbytes)
        self.download(array, block, stream)
        return value_of(array)

    def probe(self, block: Block) -> int:
        """Return the value that a block has now, by a stream that waits for nothing else."""
        return self.read(block, self.free)

    def observe(self, array: Bytes, block: Block) -> None:
        """Download a block as it is now, by a stream that waits for nothing else."""
        self.download(array, block, self.free)

    def is_busy(self, stream: Stream) -> bool:
        """Return True if the long work of a stream is provably unfinished: `stream_query` reports
        it, or the last write of the work is not visible yet."""
        busy = self.has("stream_query") and not self.is_finished(stream)
        busy = busy or self.is_loaded(stream)
        if busy:
            _BUSY.add(self.vendor)
        return busy

    def is_loaded(self, stream: Stream) -> bool:
        """Return True if the last write of a stream's long work is not visible yet."""
        block, value = stream.tick[0]
        return self.probe(block) != value

    def outlasts(self, stream: Stream, work: Callable[[], object], kind: str = "") -> bool:
        """Return True if the long work of a stream takes longer than other work.

        :param work: enqueues work on the free stream, and waits for it.
        :param kind: as for :meth:`load`.
        """
        self.load(stream, kind)
        work()
        busy = self.is_busy(stream)
        self.settle()
        return busy

    def settle(self) -> None:
        """Wait for all work in two ways, because either may be wrong."""
        if self.has("device_synchronize"):
            self.slots.call("device_synchronize", self.device)
        for stream in (*self._streams, self.default):
            self.read(Block(self._first.address, 1), stream)

    def _copy(self, to: int, source: int, nbytes: int, kind: int, stream: Stream) -> None:
        ends = (ffi.cast("void*", to), ffi.cast("void*", source))
        self.slots.call("memory_copy", self.device, *ends, nbytes, kind, stream.pointer)


def value_of(array: Bytes) -> int:
    """Return the value of host memory, or ``MIXED`` if its bytes differ."""
    first = int(array[0])
    return first if bool((array == first).all()) else MIXED
