"""Messages over a socket whose other side may write anything, stop half-way, or never answer."""

from __future__ import annotations

import pickle
import select
import socket
import struct
import time
import zlib
from collections.abc import Callable
from typing import Any

TOKEN_BYTES = 16
_HEADER = struct.Struct("<QI")
_LARGEST = 1 << 31
_WATCH_SECONDS = 0.5


class GarbageError(Exception):
    """Received bytes are not a message."""


class Channel:
    """One side of a connection; messages are pickled.

    :param token: begins each message, so that what a candidate writes by chance is none.
    """

    def __init__(self, connection: socket.socket, token: bytes) -> None:
        self._socket, self._token = connection, token

    def send(self, message: Any, seconds: float | None = None) -> None:
        """Write a message, within `seconds`.

        :raises TimeoutError: the other side does not read.
        :raises OSError: there is no other side.
        """
        text = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
        self._socket.settimeout(seconds)
        self._socket.sendall(self._token + _HEADER.pack(len(text), zlib.crc32(text)) + text)

    def receive(
        self, seconds: float | None = None, watch: Callable[[], None] = lambda: None
    ) -> Any:
        """Read a message.

        :param watch: called every half a second of waiting; what it raises ends that.
        :raises TimeoutError: it is not there as a whole within `seconds`.
        :raises EOFError: the other side is closed.
        :raises GarbageError: what is there is no message.
        """
        deadline = None if seconds is None else time.monotonic() + seconds
        start = self._read(TOKEN_BYTES + _HEADER.size, deadline, watch)
        length, check = _HEADER.unpack_from(start, TOKEN_BYTES)
        if start[:TOKEN_BYTES] != self._token or length > _LARGEST:
            raise GarbageError
        text = self._read(length, deadline, watch)
        if zlib.crc32(text) != check:
            raise GarbageError
        try:
            return pickle.loads(text)
        except MemoryError:
            raise
        except Exception as error:
            raise GarbageError(str(error)) from error

    def _read(self, count: int, deadline: float | None, watch: Callable[[], None]) -> bytes:
        found = bytearray()
        while len(found) < count:
            left = _WATCH_SECONDS if deadline is None else deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError
            if not select.select([self._socket], [], [], min(left, _WATCH_SECONDS))[0]:
                watch()
                continue
            data = self._socket.recv(min(count - len(found), 1 << 20))
            if not data:
                raise EOFError
            found += data
        return bytes(found)

    def close(self) -> None:
        """Close this side."""
        self._socket.close()
