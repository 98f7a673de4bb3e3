"""Deadline for the code of plugins, which runs during ``import torch`` and may hang.

A thread monitors the time. On the main thread, plugin code that exceeds its deadline is
interrupted by SIGINT, like Ctrl-C. This interrupts Python loops and blocking calls, even in a
process that ignores SIGINT, such as a background job. A handler of SIGINT distinguishes the signal
from a KeyboardInterrupt that the plugin raises itself. Code that neither returns to Python nor
blocks cannot be interrupted within its process; ``dl doctor`` tries plugins in a child process.
"""

from __future__ import annotations

import logging
import signal
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

_Result = TypeVar("_Result")
_PATIENCE = 5.0
"""Time in seconds for the signal to interrupt the code."""
_log = logging.getLogger("dl_core")


class PluginTimeoutError(Exception):
    """Plugin code has exceeded its deadline."""


class PluginDeadline:
    """Context manager that runs plugin code with a deadline. Used by one thread.

    :param seconds: deadline for one call.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._lock = threading.Condition()
        self._started: float | None = None
        self._what = ""
        self._fired = False
        self._ends = False
        self._depth = 0
        self._arrived = False
        self._thread: threading.Thread | None = None
        self._handler: Any = None
        self._unknown = False

    def __enter__(self) -> PluginDeadline:
        self._depth += 1
        if self._depth == 1:
            self._ends = False
            self._set_handler()
            self._thread = threading.Thread(
                target=self._watch, args=(self._interruptible(),), name="dl-plugins", daemon=True
            )
            self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._depth -= 1
        if self._depth == 0 and self._thread is not None:
            with self._lock:
                self._ends = True
                self._lock.notify()
            self._thread.join()
            if self._handler is not None:
                signal.signal(signal.SIGINT, self._handler)
                self._handler = None

    def _set_handler(self) -> None:
        """Replace Python's default handler of SIGINT, or no handler, on the main thread."""
        if threading.current_thread() is not threading.main_thread():
            return
        before = signal.getsignal(signal.SIGINT)
        if before in (signal.default_int_handler, signal.SIG_IGN):
            signal.signal(signal.SIGINT, self._interrupt)
            self._handler = before
        self._unknown = self._handler is None

    def _interrupt(self, *_: object) -> None:
        """Handle SIGINT. In a process that ignores SIGINT, only the signal of the
        deadline counts."""
        if self._fired or self._handler is not signal.SIG_IGN:
            self._arrived = True
            raise KeyboardInterrupt

    @property
    def interrupted(self) -> bool:
        """True if a signal has interrupted the action, or if a handler of the program may have."""
        return self._arrived or self._unknown

    def run(self, what: str, action: Callable[[], _Result]) -> _Result:
        """Return the result of ``action``.

        :param what: name of the action for messages.
        :raises PluginTimeoutError: the action has exceeded the deadline.
        """
        with self._lock:
            self._started, self._what, self._fired = time.monotonic(), what, False
            self._arrived = False
        arrived = False
        try:
            try:
                return action()
            except KeyboardInterrupt:
                arrived = True
                raise
            finally:
                self._finish(arrived)
        except KeyboardInterrupt:
            if not self._fired:
                raise
            raise PluginTimeoutError(f"it did not end within {self._seconds:g} seconds") from None

    def _finish(self, arrived: bool) -> None:
        with self._lock:
            self._started = None
            if self._fired:
                self._lock.notify()
        if self._fired and not arrived:
            # The signal is pending; wait for it, so that it does not arrive later.
            time.sleep(_PATIENCE)

    def _watch(self, thread: int | None) -> None:
        with self._lock:
            while not self._ends:
                begun = self._started
                self._lock.wait(self._seconds_left(begun))
                if self._ends or begun is None or self._started != begun:
                    continue
                if self._seconds_left(begun) > 0:
                    continue
                if thread is not None and not self._fired:
                    self._fired = True
                    signal.pthread_kill(thread, signal.SIGINT)
                    self._lock.wait(_PATIENCE)
                if self._started == begun and not self._ends:
                    self._report()
                    self._lock.wait()

    def _interruptible(self) -> int | None:
        """Return the id of the main thread if this is that thread and SIGINT interrupts Python
        there."""
        main = threading.main_thread()
        if threading.current_thread() is not main:
            return None
        return main.ident if self._handler is not None else None

    def _seconds_left(self, begun: float | None) -> float:
        """Return the seconds until the deadline of code that started at ``begun``, or
        starts now."""
        return self._seconds - (0.0 if begun is None else time.monotonic() - begun)

    def _report(self) -> None:
        _log.warning(
            "%s has not finished within %g seconds and cannot be interrupted; `dl doctor` tries "
            "plugins in a process of their own, and DL_DISABLE leaves one out",
            self._what,
            self._seconds,
        )
