"""Pipe whose reader keeps only the end of the data."""

from __future__ import annotations

import contextlib
import fcntl
import os

_PIECE = 1 << 16


class Tail(contextlib.AbstractContextManager["Tail"]):
    """A pipe; the context manager closes it.

    :param kept: minimum number of bytes that are kept.
    :ivar count: number of bytes that went through the pipe.
    """

    def __init__(self, kept: int) -> None:
        self._kept = kept
        self.content = bytearray()
        self.count = 0
        self.reader, self.writer = os.pipe()
        # If this process has closed its standard streams, a pipe may have taken their descriptors.
        self.reader, self.writer = _above_streams(self.reader), _above_streams(self.writer)
        os.set_blocking(self.reader, False)

    def read(self) -> bytes | None:
        """Read the available data. Return None if there is none now, and nothing at the end."""
        try:
            data = os.read(self.reader, _PIECE)
        except BlockingIOError:
            return None
        self.count += len(data)
        self.content += data
        if len(self.content) > 2 * self._kept:
            del self.content[: -self._kept]
        return data

    def text(self) -> str:
        """Return the text that was kept."""
        return self.content.decode(errors="replace")

    def close_writer(self) -> None:
        """Close the writing end in this process."""
        if self.writer >= 0:
            os.close(self.writer)
            self.writer = -1

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close both ends; the text that was kept remains available."""
        self.close_writer()
        if self.reader >= 0:
            os.close(self.reader)
            self.reader = -1


def _above_streams(descriptor: int) -> int:
    if descriptor > 2:
        return descriptor
    high: int = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 3)
    os.close(descriptor)
    return high
