"""Children forked from one server process, which has already imported what they need.

The server is a program that calls :func:`serve_forks`. It must not start threads or use devices,
because neither survives a fork. Each request has its own connection, so that threads may share it.
"""

from __future__ import annotations

import contextlib
import gc
import os
import select
import signal
import socket
import subprocess
from collections.abc import Callable, Mapping, Sequence
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import IO, Any

from .system import end_with_parent, kill_group

_ENDING_SECONDS = 10.0


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

    def ask(self, request: Any, seconds: float) -> tuple[Any, Connection]:
        """Send a request. Return the first answer, and the connection for more of them, which the
        caller closes.

        :raises TimeoutError: the server did not answer, and was killed.
        :raises EOFError: the server has ended.
        """
        ours, theirs = Pipe()
        with contextlib.ExitStack() as stack:
            stack.enter_context(ours)
            try:
                with theirs:
                    socket.send_fds(self._requests, [b"."], [theirs.fileno()])
                ours.send(request)
                answer = receive(ours, seconds)
            except TimeoutError:
                self._process.kill()
                raise
            except OSError as error:
                raise EOFError from error
            stack.pop_all()
        return answer, ours

    def close(self) -> None:
        """End the server and all processes that it forked."""
        self._requests.close()
        try:
            self._process.wait(_ENDING_SECONDS)
        except subprocess.TimeoutExpired:
            # The server is answering a request, and does not notice that it was the last one.
            self._process.kill()
            self._process.wait()


def receive(connection: Connection, seconds: float | None) -> Any:
    """Wait for the next answer.

    :raises TimeoutError: no answer arrived within `seconds`.
    :raises EOFError: the server has ended, so no answer will arrive.
    """
    if not connection.poll(seconds):
        raise TimeoutError
    return connection.recv()


def serve_forks(descriptor: int, answer: Callable[[Any], Any]) -> Any:
    """Answer requests until the client has ended, then exit. In a fork, return its request.

    The answer for a fork is its process id, followed by its exit status (128 + n after signal n).

    :param answer: function that answers a request; None means that the request is for a fork.
    """
    # Ctrl-C is handled by the client, which ends the forks.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests, server = socket.socket(fileno=descriptor), os.getpid()
    # By pidfd, which is readable once the fork has ended.
    running: dict[int, tuple[int, Connection]] = {}
    while True:
        ready, _, _ = select.select([descriptor, *running], [], [])
        for ended in set(ready) - {descriptor}:
            pid, connection = running.pop(ended)
            os.close(ended)
            code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            _send(connection, code if code >= 0 else 128 - code)
            connection.close()
        if descriptor not in ready:
            continue
        data, descriptors, _, _ = socket.recv_fds(requests, 1, 1)
        if not data:
            for pid, _ in running.values():
                kill_group(pid)
            os._exit(0)
        connection = Connection(descriptors[0])
        request = connection.recv()
        if (reply := answer(request)) is not None:
            _send(connection, reply)
            connection.close()
            continue
        gc.freeze()
        pid = os.fork()
        if pid == 0:
            end_with_parent(parent=server)
            requests.close()
            connection.close()
            for file, (_, other) in running.items():
                os.close(file)
                other.close()
            signal.signal(signal.SIGINT, signal.default_int_handler)
            return request
        running[os.pidfd_open(pid)] = pid, connection
        _send(connection, pid)


def _send(connection: Connection, message: Any) -> None:
    with contextlib.suppress(OSError):  # the requesting thread may have been interrupted
        connection.send(message)
