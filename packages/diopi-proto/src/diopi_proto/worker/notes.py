"""Last note of a worker, in memory shared with its parent, so that it survives the worker."""

from __future__ import annotations

import mmap
import os
import struct
import time

_BYTES = 4096
_HEADER = struct.Struct("<dI")
"""Time of the note, by the clock that all processes share, and the length of its text."""
_current: mmap.mmap | None = None


def note(text: str) -> None:
    """Leave a note about what this worker is about to do. It replaces the previous note.

    Outside of a worker, this does nothing.
    """
    if _current is None:
        return
    data = text.encode(errors="replace")[: _BYTES - _HEADER.size]
    _current[_HEADER.size : _HEADER.size + len(data)] = data
    _HEADER.pack_into(_current, 0, time.monotonic(), len(data))


def write_notes_to(descriptor: int) -> None:
    """Let :func:`note` write to a file created by :func:`notes_file`."""
    global _current
    # A mapping, because writes to a file would be subject to the limit on file sizes.
    _current = mmap.mmap(descriptor, _BYTES)


def notes_file() -> int:
    """Return the descriptor of a new file for notes, which exists only in memory."""
    descriptor = os.memfd_create("notes")
    os.truncate(descriptor, _BYTES)
    return descriptor


def last_note(descriptor: int) -> tuple[float, str]:
    """Return the time and the text of the last note; 0 and an empty text if there is none."""
    # Read instead of mapped, so that a worker that truncates the file cannot crash its parent.
    data = os.pread(descriptor, _BYTES, 0)
    if len(data) < _HEADER.size:
        return 0.0, ""
    when, length = _HEADER.unpack_from(data)
    return when, data[_HEADER.size : _HEADER.size + length].decode(errors="replace")
