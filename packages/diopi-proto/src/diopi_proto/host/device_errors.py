"""Error words of streams: errors that kernels find in their data, raised by synchronization.

See ``dl/device_error.h``.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable
from dataclasses import dataclass

from .._native import text
from ..errors import OperatorError
from .cabi import constants, ffi
from .structs import CData, TableSlots, address

_BYTES: int = ffi.sizeof("dl_device_error_t")
_RAISED: int = constants.DL_DEVICE_ERROR_RAISED
_NUMBERS = re.compile(r"\{(value|position|low|high|number)\}")
_CLEAR: CData = ffi.new("dl_device_error_t*")

Key = tuple[int, int]
"""A device and the address of one of its streams."""

Mark = tuple[tuple[Key, int], ...]
"""For each stream, the number of calls that may have written to its word."""


@dataclass
class _Word:
    memory: CData
    device: int
    stream: CData
    calls: int = 0
    checked: int = 0
    clearing: bool = False
    """True while a clear that was enqueued on the stream may not have run yet."""
    shared: bool = False
    """True if a graph that was captured on the stream may run on other streams."""


class DeviceErrors:
    """Error words of an instance's streams. Thread-safe, and safe to use from finalizers."""

    def __init__(self, slots: TableSlots, vendor: str) -> None:
        self._slots = slots
        self._vendor = vendor
        # Reentrant: the garbage collector may run finalizers within these methods.
        self._lock = threading.RLock()
        # One thread at a time reads and clears words; separate from the lock that operators take.
        self._reading = threading.RLock()
        self._words: dict[Key, _Word] = {}
        self._readers: dict[int, CData] = {}
        self._graphs: dict[Key, set[Key]] = {}
        """Streams that run graphs, with the streams on which the graphs were captured."""

    def word(self, device: int, stream: CData) -> CData:
        """Return the address of a stream's word; allocate and clear it on first use.

        :raises VendorError: it cannot be allocated.
        """
        key = _key(device, stream)
        with self._lock:
            if key not in self._words:
                self._words[key] = self._create_word(device, stream)
            return self._words[key].memory

    def enqueued(self, device: int, stream: CData) -> None:
        """Record that a call which may write to the stream's word was enqueued."""
        with self._lock:
            self._words[_key(device, stream)].calls += 1

    def launched(self, device: int, stream: CData, captured: CData) -> None:
        """Record that a graph captured on one stream was enqueued on another."""
        written = _key(device, captured)
        with self._lock:
            if written in self._words:
                self._graphs.setdefault(_key(device, stream), set()).add(written)
                self._words[written].calls += 1
                self._words[written].shared = True

    def mark(self, device: int, stream: CData) -> Mark:
        """Return the mark to :meth:`check` after the work enqueued on a stream so far has
        finished.
        """
        if not self._words:
            return ()
        key = _key(device, stream)
        with self._lock:
            return self._marked({key, *self._graphs.get(key, ())})

    def mark_all(self, device: int) -> Mark:
        """Return the marks of all streams of a device; see :meth:`mark`."""
        with self._lock:
            return self._marked(key for key in tuple(self._words) if key[0] == device)

    def check(self, mark: Mark) -> None:
        """Raise the errors of the marked calls, which must have finished.

        :raises OperatorError: the first error of a stream, once. Errors of other streams are raised
            by later synchronizations.
        """
        for key, calls in mark:
            with self._reading:
                word = self._words.get(key)
                if word is not None and word.checked < calls:
                    self._check(word, calls)

    def _marked(self, keys: Iterable[Key]) -> Mark:
        words = [(key, word) for key in keys if (word := self._words.get(key)) is not None]
        return tuple((key, word.calls) for key, word in words if word.checked < word.calls)

    def forget(self, device: int, stream: CData) -> None:
        """Free the word of a synchronized stream that is about to be destroyed."""
        key = _key(device, stream)
        with self._lock:
            self._graphs.pop(key, None)
            word = self._words.pop(key, None)
        if word is not None:
            self._free(word)

    def release(self) -> None:
        """Free all words, before the instance is destroyed."""
        with self._lock:
            words, self._words = self._words, {}
            readers, self._readers = self._readers, {}
        for word in words.values():
            self._free(word)
        for device, reader in readers.items():
            if reader != ffi.NULL:
                self._slots.call("stream_destroy", device, reader)

    def _free(self, word: _Word) -> None:
        if word.clearing:
            self._synchronize(word.device, word.stream)
        self._slots.call("memory_free", word.device, word.memory)

    def _create_word(self, device: int, stream: CData) -> _Word:
        memory = ffi.new("void**")
        self._slots.call("memory_allocate", device, _BYTES, memory)
        word = _Word(ffi.cast("dl_device_error_t*", memory[0]), device, stream)
        try:
            # Not on the stream itself, because that may be capturing a graph.
            reader = self._reader(device)
            self._clear(word, reader)
            self._synchronize(device, reader)
        except BaseException:
            self._slots.call("memory_free", device, memory[0])
            raise
        return word

    def _reader(self, device: int) -> CData:
        """Return a separate stream for reading words, so that a read does not wait for
        other work.
        """
        if device not in self._readers:
            stream = ffi.new("void**")
            if self._slots.has("stream_create"):
                self._slots.call("stream_create", device, 0, stream)
            self._readers[device] = stream[0]
        return self._readers[device]

    def _read(self, word: _Word) -> CData:
        error = ffi.new("dl_device_error_t*")
        kind, reader = constants.DL_COPY_DEVICE_TO_HOST, self._reader(word.device)
        self._slots.call("memory_copy", word.device, error, word.memory, _BYTES, kind, reader)
        return error

    def _clear(self, word: _Word, stream: CData) -> None:
        kind = constants.DL_COPY_HOST_TO_DEVICE
        self._slots.call("memory_copy", word.device, word.memory, _CLEAR, _BYTES, kind, stream)

    def _synchronize(self, device: int, stream: CData) -> None:
        if self._slots.has("stream_synchronize"):
            self._slots.call("stream_synchronize", device, stream)
        else:
            self._slots.call("device_synchronize", device)

    def _check(self, word: _Word, calls: int) -> None:
        if self._read(word).state != _RAISED:
            word.checked = calls
            return
        # Later calls may still run: the other fields may have been read before `state` was set.
        error = self._read(word)
        # Clear in stream order, without waiting: synchronizing a later call includes the clear.
        self._clear(word, word.stream)
        word.checked, word.clearing = word.calls, True
        if word.shared:
            # A graph writes from other streams, whose work is not ordered after this stream's.
            self._synchronize(word.device, word.stream)
        operator, said = _terminated(error.operator_name), _terminated(error.text)
        reason = f"[{operator}] {_NUMBERS.sub(lambda name: _format_field(error, name[1]), said)}"
        raise OperatorError(
            f"{reason} (found when its stream was synchronized, after the call had returned; "
            f"vendor {self._vendor}, device {word.device})",
            code=constants.diopiErrorOccurred,
            operator=operator,
            vendor=self._vendor,
            reason=reason,
        )


def _key(device: int, stream: CData) -> Key:
    return device, address(stream)


def _terminated(characters: CData) -> str:
    characters[len(characters) - 1] = b"\0"
    return text(characters)


def _format_field(error: CData, field: str) -> str:
    value = getattr(error, field)
    return f"{value:g}" if field == "number" else str(value)
