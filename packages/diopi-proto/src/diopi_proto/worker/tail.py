"""Pipe whose reader keeps the end of what comes through it."""

from __future__ import annotations

import contextlib
import fcntl
import os

_PIECE = 1 << 16


class Tail(contextlib.AbstractContextManager["Tail"]):
    """A pipe; the context closes it.

    :param kept: bytes that are kept at least.
    :ivar count: bytes that came through it.
    """

    def __init__(self, kept: int) -> None:
        self._kept = kept
        self.content = bytearray()
        self.count = 0
        self.reader, self.writer = os.pipe()
        # Where this process has closed its standard streams, a pipe has taken their numbers.
        self.reader, self.writer = _above_streams(self.reader), _above_streams(self.writer)
        os.set_blocking(self.reader, False)

    def read(self) -> bytes | None:
        """Take what is there; None if there is nothing now, nothing at the end."""
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
        """Return what was kept."""
        return self.content.decode(errors="replace")

    def close_writer(self) -> None:
        """Close this process's end for writing."""
        if self.writer >= 0:
            os.close(self.writer)
            self.writer = -1

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close both ends; what was kept is there still."""
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
