"""Trial import of all plugins in a child process, to find those that hang or crash.

Before the child runs a plugin's code, it notes the plugin's name: the last note names the plugin
that hung or crashed. The trial is repeated without that plugin until a child exits normally.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Mapping, Sequence
from functools import partial

from diopi_proto.text import printable
from diopi_proto.worker import Failure, Worker, WorkerError, note
from dl_core.import_path import TrustedPath

_ENDLESS = 1e6
_WHAT = "\0"
"""Separator between the name of a plugin and a description of its behavior in a note."""
_LONGEST = 100
CLOSES_FILES = "it closes files of the process that it did not open, or writes to them"


def troublemakers(disable: Sequence[str], seconds: float) -> Mapping[str, str]:
    """Return the plugins that hang or crash, each with a sentence about what it does.

    :param disable: names of plugins that are ignored.
    :param seconds: deadline for one call into a plugin.
    """
    found: dict[str, str] = {}
    while True:
        result = _try([*disable, *found], seconds)
        if result is None or result[0] in found:
            return found
        found[result[0]] = result[1]


def _try(disable: Sequence[str], seconds: float) -> tuple[str, str] | None:
    """Run one child; return the name and behavior of a plugin that hangs or crashes, or None."""
    with TrustedPath() as trusted:
        path = list(trusted)
    build = partial(partial, load, [*disable])
    try:
        with Worker(build, path=path, json=True) as worker:
            worker.call(None, seconds, renews=True)
    except WorkerError as error:
        name, _, what = error.note.partition(_WHAT)
        return (printable(name), _describe(error, printable(what), seconds)) if name else None
    except OSError:
        # This process imports the plugins anyway, with a deadline.
        pass
    return None


def _describe(error: WorkerError, what: str, seconds: float) -> str:
    """Describe how a plugin ended the trial.

    :param what: the description in the plugin's note, if it has one.
    """
    if what:
        return what
    if error.failure is Failure.TIMED_OUT:
        return f"it did not end within {seconds:g} seconds"
    if error.failure in (Failure.CLOSED, Failure.GARBAGE):
        return CLOSES_FILES
    if error.signal and error.signal != signal.SIGKILL:
        return f"it crashes: {signal.strsignal(error.signal) or f'signal {error.signal}'}"
    if error.signal or error.status is not None:
        return f"it ends the process, with status {error.status or -error.signal}"
    return f"it cannot be tried: {printable(str(error))}"


class _Observer:
    """Observer of the effects that the code of each plugin has on the process."""

    def __init__(self) -> None:
        self._name = ""
        self._files = _open_files()
        self._threads = set(threading.enumerate())
        self._started: list[tuple[str, threading.Thread]] = []

    def begin(self, name: str) -> None:
        """Note the plugin whose code runs next."""
        self.check()
        self._name = name
        note(name)

    def check(self) -> None:
        """Check what the last plugin has done. Without its files this process cannot send its
        answer."""
        if not self._files <= _open_files():
            note(f"{self._name}{_WHAT}{CLOSES_FILES}")
            os._exit(1)
        for thread in set(threading.enumerate()) - self._threads:
            self._threads.add(thread)
            if not thread.daemon:
                self._started.append((self._name, thread))

    def wait(self) -> None:
        """Wait for threads that would keep the process from ending."""
        self.check()
        for name, thread in self._started:
            shown = printable(thread.name, _LONGEST)
            note(f"{name}{_WHAT}it starts the thread {shown!r}, which keeps programs from ending")
            thread.join()


def _open_files() -> set[tuple[int, int, int]]:
    """Return the open descriptors with the files that they refer to."""
    found = set()
    for text in os.listdir("/proc/self/fd"):  # noqa: PTH208 - names only
        with contextlib.suppress(OSError):
            status = os.fstat(int(text))
            found.add((int(text), status.st_dev, status.st_ino))
    return found


def load(disable: Sequence[str], _: None) -> None:
    """Run the plugin code of :func:`dl_core.startup.prepare`, and write a note before
    each plugin."""
    from dl_core.manager import PluginManager

    observer = _Observer()
    # The parent process enforces the deadline.
    manager = PluginManager(disable, _ENDLESS, before=observer.begin, strict=True)
    manager.load()
    for record, descriptor in manager.vendors():
        manager.present(record, descriptor)
        manager.libraries(record, descriptor)
    for record, added in manager.added_operators():
        manager.present(record, added)
    observer.wait()
