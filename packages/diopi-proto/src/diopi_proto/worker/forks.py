"""Children forked from one server process, which has already imported what they need.

The server is a program that calls :func:`serve_forks`. It must not start threads or use devices,
because neither survives a fork. Each request has its own connection, so that threads may share it.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import select
import signal
import socket
import subprocess
from collections.abc import Callable, Mapping, Sequence
from typing import IO, Any

from .system import end_with_parent, kill_group

Message = dict[str, Any]
_ENDING_SECONDS = 10.0


class ServerEndedError(Exception):
    """The server has ended."""


class ForkServer:
    """Client of a fork server; threads may share it.

    :param command: command of the server. A None in it is replaced by the number of the descriptor
        to pass to :func:`serve_forks`.
    :param output: file that receives the output of the server itself.
    :raises OSError: the server cannot be started.
    """

    def __init__(
        self, command: Sequence[str | None], *, env: Mapping[str, str], output: IO[bytes]
    ) -> None:
        self._requests, theirs = socket.socketpair()
        with theirs, contextlib.ExitStack() as stack:
            stack.callback(self._requests.close)
            self._process = subprocess.Popen(
                [str(theirs.fileno()) if word is None else word for word in command],
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                pass_fds=[theirs.fileno()],
            )
            stack.pop_all()

    def ask(self, request: Message, seconds: float) -> Connection:
        """Send a request and return its connection, with the first answer; the caller closes it.

        :raises TimeoutError: the server did not answer, and was killed.
        :raises ServerEndedError: the server has ended.
        """
        ours, theirs = socket.socketpair()
        connection = Connection(ours)
        try:
            with theirs:
                socket.send_fds(self._requests, [b"."], [theirs.fileno()])
            ours.sendall(json.dumps(request).encode() + b"\n")
            connection.wait(seconds)
        except BaseException as error:
            connection.close()
            if isinstance(error, TimeoutError):
                self._process.kill()
            elif isinstance(error, OSError):
                raise ServerEndedError from error
            raise
        return connection

    def close(self) -> None:
        """End the server and all processes that it forked."""
        self._requests.close()
        try:
            self._process.wait(_ENDING_SECONDS)
        except subprocess.TimeoutExpired:
            # The server is answering a request, and does not notice that it was the last one.
            self._process.kill()
            self._process.wait()


class Connection(contextlib.AbstractContextManager["Connection"]):
    """Answers to one request; the context manager closes the connection.

    :ivar answer: the last answer. A fork answers with its process id, then with its exit status.
    """

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        # Without a buffer, so that poll() sees everything that has arrived.
        self._lines = connection.makefile("rb", buffering=0)
        self.answer: Message = {}

    def wait(self, seconds: float | None) -> Message:
        """Wait for the next answer.

        :raises TimeoutError: no answer arrived within `seconds`.
        :raises ServerEndedError: the server has ended, so no answer will arrive.
        """
        milliseconds = None if seconds is None else seconds * 1000
        poll = select.poll()
        poll.register(self._socket, select.POLLIN)
        if not poll.poll(milliseconds):
            raise TimeoutError
        if not (line := self._lines.readline()):
            raise ServerEndedError
        self.answer = json.loads(line)
        return self.answer

    def close(self) -> None:
        self._lines.close()
        self._socket.close()

    def __exit__(self, *_: object) -> None:
        self.close()


def serve_forks(descriptor: int, answer: Callable[[Message], Message | None]) -> Message:
    """Answer requests until the client has ended, then exit. In a fork, return its request.

    The answer for a fork is its process id, followed by its exit status (128 + n after signal n).

    :param answer: function that answers a request; None means that the request is for a fork.
    """
    woken, wake = os.pipe()
    for each in (woken, wake):
        os.set_blocking(each, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    # Ctrl-C is handled by the client, which ends the forks.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests, server = socket.socket(fileno=descriptor), os.getpid()
    running: dict[int, socket.socket] = {}
    while True:
        ready, _, _ = select.select([requests.fileno(), woken], [], [])
        if woken in ready:
            os.read(woken, 1 << 12)
            for pid in list(running):
                if (found := os.waitpid(pid, os.WNOHANG))[0]:
                    code = os.waitstatus_to_exitcode(found[1])
                    with running.pop(pid) as connection:
                        _send(connection, {"status": code if code >= 0 else 128 - code})
        if requests.fileno() not in ready:
            continue
        data, descriptors, _, _ = socket.recv_fds(requests, 1, 1)
        if not data:
            for pid in running:
                kill_group(pid)
            os._exit(0)
        connection = socket.socket(fileno=descriptors[0])
        with connection.makefile("rb") as lines:
            request: Message = json.loads(lines.readline())
        if (reply := answer(request)) is not None:
            _send(connection, reply)
            connection.close()
            continue
        gc.freeze()
        pid = os.fork()
        if pid == 0:
            end_with_parent(parent=server)
            signal.set_wakeup_fd(-1)
            for file in (requests, connection, *running.values()):
                file.close()
            os.close(woken)
            os.close(wake)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            return request
        running[pid] = connection
        _send(connection, {"process": pid})


def _send(connection: socket.socket, message: Message) -> None:
    with contextlib.suppress(OSError):  # the requesting thread may have been interrupted
        connection.sendall(json.dumps(message).encode() + b"\n")
