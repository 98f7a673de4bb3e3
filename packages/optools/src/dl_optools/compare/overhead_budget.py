"""Token bucket for the time that a tool spends on optional comparisons."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from dl_optools.budget import Clock

MOST = 1.0
"""Capacity in seconds: time earned by a long first step is not spent in a later one."""


class OverheadBudget:
    """Token bucket of seconds: a share of the program's time fills it, comparisons drain it.

    :param share: share of the program's time, 0 to 1.
    :param idle: returns True if the comparing threads have nothing to do.
    :param clock: monotonic clock in seconds.
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
        """Subtract the duration of a comparison in any thread. The balance may become negative."""
        with self._lock:
            self._credit -= seconds

    def has_time(self) -> bool:
        """Return True if one more comparison may start."""
        now = self.clock()
        with self._lock:
            self._credit = min(self._credit + self._share * (now - self._at), MOST)
            self._at = now
        return self._credit > 0 and self._idle()
