"""Messages over a socket whose other side may write anything, or stop in the middle."""

from __future__ import annotations

import json
import pickle
import socket
import struct
import zlib
from collections.abc import Callable
from typing import Any

TOKEN_BYTES = 16
LARGEST = 1 << 31
"""Maximum size of a message in bytes."""
_HEADER = struct.Struct("<QI")


class GarbageError(Exception):
    """The received bytes are not a message."""


def to_json(message: Any) -> bytes:
    """Encode a message in a form that is safe to decode whoever wrote it."""
    return json.dumps(message).encode()


class Channel:
    """One side of a connection.

    :param token: prefix of each message, so that other output is not mistaken for a message.
    :param largest: maximum size of a message in bytes.
    :ivar encode: function that encodes messages to send (default: pickle).
    :ivar decode: function that decodes received messages (default: pickle).
    """

    def __init__(self, connection: socket.socket, token: bytes, largest: int = LARGEST) -> None:
        self.socket, self.largest, self._token = connection, largest, token
        self._received = bytearray()
        self.encode: Callable[[Any], bytes] = pickle.dumps
        self.decode: Callable[[bytes], Any] = pickle.loads

    def send(self, message: Any, seconds: float | None = None) -> None:
        """Write a message within `seconds`.

        :raises TimeoutError: the other side does not read.
        :raises OSError: the other side is closed.
        :raises ValueError: the message is too large.
        """
        text = self.encode(message)
        if len(text) > self.largest:
            raise ValueError(f"the message has {len(text)} bytes, but the limit is {self.largest}")
        self.socket.settimeout(seconds)
        self.socket.sendall(self._token + _HEADER.pack(len(text), zlib.crc32(text)) + text)
        self.socket.settimeout(None)

    def receive(self) -> Any:
        """Wait for a message.

        :raises EOFError: the other side is closed.
        :raises GarbageError: the received bytes are not a message.
        """
        while (found := self.take()) is None:
            self.read()
        return found[0]

    def read(self) -> None:
        """Read the available bytes; wait if there are none.

        :raises EOFError: the other side is closed.
        """
        data = self.socket.recv(1 << 20)
        if not data:
            raise EOFError
        self._received += data

    def take(self) -> tuple[Any] | None:
        """Return the next message; None if it is not complete yet.

        :raises GarbageError: the bytes that were read are not a message.
        """
        start = TOKEN_BYTES + _HEADER.size
        if not self._token.startswith(bytes(self._received[:TOKEN_BYTES])):
            raise GarbageError
        if len(self._received) < start:
            return None
        length, check = _HEADER.unpack_from(self._received, TOKEN_BYTES)
        if length > self.largest:
            raise GarbageError
        if len(self._received) < start + length:
            return None
        text = bytes(self._received[start : start + length])
        del self._received[: start + length]
        if zlib.crc32(text) != check:
            raise GarbageError
        try:
            return (self.decode(text),)
        except MemoryError:
            raise
        except Exception as error:
            raise GarbageError(str(error)) from error
