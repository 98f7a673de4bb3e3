"""Tools in the threads that a program starts by :mod:`threading`: modes are thread-local."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from dl_optools import levels
from dl_optools.failures import warn_failure


class ProgramThreads:
    """Makes threads that start after :meth:`follow` enter tools, until :meth:`dismiss`.

    :param enter: called in each of them before its work.
    :param leave: called in each of them after it.
    """

    def __init__(self, enter: Callable[[], None], leave: Callable[[], None]) -> None:
        self._enter, self._leave = enter, leave
        self._lock = threading.Lock()
        self._modes: dict[int, list[Any]] = {}
        self._following = False
        self._home = 0

    def follow(self) -> None:
        original = threading.Thread.start
        self._following = True
        # Tools have started in this thread.
        self._home = threading.get_ident()
        self._modes[self._home] = levels.modes_of_thread()

        def start(thread: threading.Thread) -> None:
            if self._following:
                thread.run = self._followed(thread.run)  # type: ignore[method-assign]
            original(thread)

        threading.Thread.start = start  # type: ignore[method-assign,assignment]

    def dismiss(self) -> bool:
        """Disable tools in threads that are still running: the tools are about to stop.

        :returns: True if this is the thread of :meth:`follow`, in which tools can be stopped.
        """
        self._following = False
        at_home = threading.get_ident() == self._home
        with self._lock:
            if at_home:
                self._modes.pop(self._home, None)
            for modes in self._modes.values():
                for mode in modes:
                    mode.chains.change(())
        return at_home

    def let_be(self) -> None:
        """Stop in a forked child, where locks may be held by threads that do not exist."""
        self._following = False
        self._lock = threading.Lock()
        self._modes = {}

    def _followed(self, run: Callable[[], None]) -> Callable[[], None]:
        def work() -> None:
            if not self._following:
                return run()
            try:
                self._enter()
            except Exception as error:  # noqa: BLE001 - the program has to run
                warn_failure("dl tool", "a thread of the program", error)
            key = threading.get_ident()
            with self._lock:
                self._modes[key] = levels.modes_of_thread()
            try:
                run()
            finally:
                self._leave()
                with self._lock:
                    self._modes.pop(key, None)
                levels.leave_thread()

        return work
