"""The process above a program: it times it, and ends all that it started once the program has
ended, or the tuner has, by whatever way.

It reads nothing of what the program prints, and takes no part of its time.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import socket
import subprocess
import sys
import time

from ..runners.reaper import Reaper, adopt_orphans, end_with_parent


def main() -> None:
    """Run a program; the arguments are a descriptor and the command."""
    control = socket.socket(fileno=int(sys.argv[1]))
    adopt_orphans()
    try:
        told = watch(sys.argv[2:], control)
    except OSError as error:
        told = {"error": error.strerror}
    with contextlib.suppress(OSError):
        control.sendall(json.dumps(told).encode())


def watch(command: list[str], control: socket.socket) -> dict[str, object]:
    """Return when nothing is left of the program; what it came to.

    :raises OSError: it cannot be started.
    """
    begin = time.perf_counter()
    # In a session of its own: what it ends of its group is nothing of ours. No thread is there
    # that could hold a lock while the function runs.
    program = subprocess.Popen(command, start_new_session=True, preexec_fn=end_with_parent)
    reaper = Reaper(program.pid)
    with selectors.DefaultSelector() as selector:
        # The other side of `control` sends nothing: it is readable when the tuner is gone.
        for file in (os.pidfd_open(program.pid), control.fileno()):
            selector.register(file, selectors.EVENT_READ)
        selector.select()
    seconds = time.perf_counter() - begin
    reaper.end_all()
    program.returncode = os.waitstatus_to_exitcode(reaper.ended[0])
    return {"seconds": seconds, "status": program.returncode}


if __name__ == "__main__":
    main()
