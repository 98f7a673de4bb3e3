"""Last note of a worker, in memory shared with its parent: it survives the worker's death."""

from __future__ import annotations

import mmap
import os
import struct
import time

_BYTES = 4096
_HEADER = struct.Struct("<dI")
"""Time of the note, on the clock that all processes share, and length of its text."""
_current: mmap.mmap | None = None


def note(text: str) -> None:
    """Leave a note of what this worker is about to do; it replaces the last one.

    Outside of a worker, this does nothing.
    """
    if _current is None:
        return
    data = text.encode(errors="replace")[: _BYTES - _HEADER.size]
    _current[_HEADER.size : _HEADER.size + len(data)] = data
    _HEADER.pack_into(_current, 0, time.monotonic(), len(data))


def write_notes_to(descriptor: int) -> None:
    """Let :func:`note` write to a file of :func:`notes_file`."""
    global _current
    # A file would be held to the limit of files.
    _current = mmap.mmap(descriptor, _BYTES)


def notes_file() -> int:
    """Return the descriptor of a new file for notes, which is in memory."""
    descriptor = os.memfd_create("notes")
    os.truncate(descriptor, _BYTES)
    return descriptor


def last_note(descriptor: int) -> tuple[float, str]:
    """Return the time and the text of the last note; 0 and no text without one."""
    # Read, not mapped: a worker that shortens the file does not hurt its parent.
    data = os.pread(descriptor, _BYTES, 0)
    if len(data) < _HEADER.size:
        return 0.0, ""
    when, length = _HEADER.unpack_from(data)
    return when, data[_HEADER.size : _HEADER.size + length].decode(errors="replace")
