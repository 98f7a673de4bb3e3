"""The process above a worker: whatever happens, it ends all that the worker started.

It runs no candidate. What a worker starts and leaves is given to it by the system, in whatever
session or group that is, and it sees by itself when the tuner is gone.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import socket
import sys
from dataclasses import asdict, dataclass

from .limits import Limits
from .reaper import Reaper, adopt_orphans, end_with_parent
from .serve import serve

_PRIORITY = -5
_KEPT_BYTES = 2000
"""Bytes that are kept from the end of a worker's output: the last words before a crash."""


@dataclass(frozen=True)
class Ending:
    """How a worker ended.

    :ivar status: as of :func:`os.waitpid`.
    :ivar peak: bytes of memory that it, or one process that it waited for, had at most.
    :ivar said: the end of what it printed.
    :ivar too_much: why it was ended, if the guard did that.
    """

    status: int
    peak: int
    said: str = ""
    too_much: str = ""


def main() -> None:
    """Run a worker; the arguments are two descriptors, a token and limits."""
    requests, control = (socket.socket(fileno=int(text)) for text in sys.argv[1:3])
    token, limits = bytes.fromhex(sys.argv[3]), Limits(**json.loads(sys.argv[4]))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    adopt_orphans()
    printed, their_output = os.pipe()
    worker = os.fork()
    if worker == 0:
        os.setsid()
        end_with_parent()
        control.close()
        os.close(printed)
        serve(requests, token, limits, their_output)
    requests.close()
    os.close(their_output)
    with contextlib.suppress(OSError):
        # Among hundreds of processes of a fork bomb, its turn has to come.
        os.nice(_PRIORITY)
    ending = Guard(worker, control, printed, limits).watch()
    with contextlib.suppress(OSError):
        control.sendall(json.dumps(asdict(ending)).encode())


class Guard:
    """Waits for a worker's end, or for the tuner's, whichever comes first."""

    def __init__(self, worker: int, control: socket.socket, printed: int, limits: Limits) -> None:
        self._printed, self._limits = printed, limits
        self._count, self._said, self._too_much = 0, b"", ""
        self._reaper = Reaper(worker)
        self._selector = selectors.DefaultSelector()
        pidfd = os.pidfd_open(worker)
        for file in (control, printed, pidfd):
            self._selector.register(file, selectors.EVENT_READ)
        self._endings = {control.fileno(), pidfd}
        os.set_blocking(printed, False)

    def watch(self) -> Ending:
        """Return when nothing is left below this process."""
        while not self._too_much:
            ready = {key.fd for key, _ in self._selector.select()}
            if self._printed in ready:
                self._listen()
            if ready & self._endings:
                break
            self._reaper.reap()
        self._reaper.end_all()
        self._listen()
        said = self._said.decode(errors="replace").strip()
        return Ending(*self._reaper.ended, said, self._too_much)

    def _listen(self) -> None:
        """Take what was printed; only its end is kept."""
        with contextlib.suppress(BlockingIOError):
            while data := os.read(self._printed, 1 << 16):
                self._count += len(data)
                self._said = (self._said + data)[-_KEPT_BYTES:]
                if self._count > self._limits.printed:
                    self._too_much = f"it printed more than {self._limits.printed >> 20} MiB"
                    return
            # Nobody is left who could print.
            if self._printed in self._selector.get_map():
                self._selector.unregister(self._printed)
