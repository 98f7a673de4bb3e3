"""Main loop of a worker process: it answers requests, one after the other, until it is ended."""

from __future__ import annotations

import os
import pickle
import socket
import traceback
from collections.abc import Callable
from typing import Any, NoReturn

from ..errors import TuningError
from .channel import Channel
from .limits import Limits

Handler = Callable[[Any], Any]
"""Answers a request; both are sent between processes by pickle."""
UNANSWERED = 70
"""The exit status of a worker that cannot say its answer: something closed its pipes."""


def serve(requests: socket.socket, token: bytes, limits: Limits, output: int) -> NoReturn:
    """Build the handler that the first message names, and answer."""
    status = UNANSWERED
    try:
        limits.apply()
        nothing = os.open(os.devnull, os.O_RDONLY)
        for stream, file in ((0, nothing), (1, output), (2, output)):
            os.dup2(file, stream)
        os.close(output)
        _answer(Channel(requests, token))
        status = 0
    except (OSError, EOFError):
        pass
    finally:
        # Without the interpreter's ending, which runs what candidates may have registered.
        os._exit(status)


def _answer(channel: Channel) -> None:
    worker = os.getpid()
    try:
        handler: Handler = channel.receive()()
    except Exception as error:  # noqa: BLE001 - any error is sent to the other side
        channel.send((False, _as_sent(error)))
        return
    channel.send((True, worker))
    while True:
        number, request = channel.receive()
        try:
            answer = (number, True, handler(request))
        except Exception as error:  # noqa: BLE001 - as above
            answer = (number, False, _as_sent(error))
        if os.getpid() != worker:
            # A candidate forked, and this is the copy.
            return
        try:
            channel.send(answer)
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            channel.send((number, False, _as_sent(error)))


def _as_sent(error: Exception) -> str:
    if isinstance(error, TuningError):
        return str(error)
    return "".join(traceback.format_exception_only(error)).strip()
