"""Main loop of a worker: answers requests one after the other, until there are no more."""

from __future__ import annotations

import os
import pickle
import socket
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .channel import LARGEST, Channel, to_json
from .limits import Limits
from .notes import write_notes_to

UNANSWERED = 70
"""Exit status of a worker that cannot send its answer because its pipes were closed."""


@dataclass(frozen=True)
class Setup:
    """First message to a worker.

    :ivar json: encode answers as JSON, which is safe to decode whoever wrote it; otherwise pickle.
    :ivar exits: end the interpreter normally, which runs the exit handlers of libraries.
    :ivar largest: maximum size of a message in bytes.
    """

    limits: Limits
    json: bool = False
    exits: bool = False
    largest: int = LARGEST


def serve(requests: socket.socket, token: bytes, output: int, notes: int) -> None:
    """Build the handler that was sent, and answer requests. Returns only if the interpreter is to
    end."""
    status, exits = UNANSWERED, False
    try:
        channel = Channel(requests, token)
        setup: Setup = channel.receive()
        exits = setup.exits
        setup.limits.apply()
        nothing = os.open(os.devnull, os.O_RDONLY)
        for stream, file in ((0, nothing), (1, output), (2, output)):
            os.dup2(file, stream)
        write_notes_to(notes)
        for descriptor in (nothing, output, notes):
            os.close(descriptor)
        channel.largest = setup.largest
        if setup.json:
            # Requests are pickled in any case, because they come from the parent.
            channel.encode = to_json
        _answer(channel)
        status = 0
    except EOFError:
        status = 0
    except OSError:
        pass
    finally:
        if status or not exits:
            # Skip the normal end of the interpreter, which would run exit handlers.
            os._exit(status)


def _answer(channel: Channel) -> None:
    worker = os.getpid()
    bare: tuple[type[Exception], ...] = ()
    try:
        build, bare = channel.receive()
        handler: Callable[[Any], Any] = build()
    except Exception as error:  # noqa: BLE001 - any error is sent to the other side
        channel.send((0, False, _describe(error, bare)))
        return
    channel.send((0, True, worker))
    while True:
        number, request = channel.receive()
        try:
            answer = (number, True, handler(request))
        except Exception as error:  # noqa: BLE001 - as above
            answer = (number, False, _describe(error, bare))
        sys.stdout.flush()
        if os.getpid() != worker:
            # The handler has forked, and this is the copy.
            os._exit(0)
        try:
            channel.send(answer)
        except (pickle.PicklingError, TypeError, AttributeError, ValueError) as error:
            channel.send((number, False, _describe(error, ())))


def _describe(error: Exception, bare: tuple[type[Exception], ...]) -> str:
    if isinstance(error, bare):
        return str(error)
    return "".join(traceback.format_exception_only(error)).strip()
