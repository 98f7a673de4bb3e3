"""Time that a tool may take for calls that it has no need to look at."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from dl_optools.budget import Clock

MOST = 1.0
"""Seconds that are saved up at most: what a long first step earned is not spent in one later."""


class Looks:
    """An account of seconds: the program's time pays in a share of it; looks are paid from it.

    :param share: of the program's time, 0 to 1.
    :param idle: whether the threads that compare have nothing to do.
    :param clock: seconds, never going back.
    """

    def __init__(
        self, share: float, idle: Callable[[], bool], clock: Clock = time.perf_counter
    ) -> None:
        self._share = share
        self._idle = idle
        self.clock = clock
        self._credit = 0.0
        self._at = clock()
        self._lock = threading.Lock()

    def spend(self, seconds: float) -> None:
        """Somebody looked for so long, in any thread. The account may be overdrawn."""
        with self._lock:
            self._credit -= seconds

    def afforded(self) -> bool:
        """Whether one more look may begin."""
        now = self.clock()
        with self._lock:
            self._credit = min(self._credit + self._share * (now - self._at), MOST)
            self._at = now
        return self._credit > 0 and self._idle()
