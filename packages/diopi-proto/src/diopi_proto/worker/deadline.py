"""Deadline of a call, which a busy machine extends and notes of the worker renew."""

from __future__ import annotations

import time

from .notes import last_note
from .processes import waiting_times

_LONGEST = 10
"""Limit of the extension, as a multiple of the deadline's seconds."""


class Deadline:
    """Deadline some seconds after its creation, without the time that a process waited to run.

    A process that sleeps, as in a deadlock, does not wait in this sense.

    :param notes: descriptor of the file of notes; the last note renews the deadline. None: no
        renewal.
    :param pid: the process; 0: all time counts. The number may be wrong, as it is only read from,
        and as the extension is limited to ten times `seconds`.
    """

    def __init__(self, seconds: float, notes: int | None = None, pid: int = 0) -> None:
        self._seconds, self._notes, self._pid = seconds, notes, pid
        self._before = waiting_times(pid) if pid else {}
        self._start = time.monotonic()
        self._end = self._start + seconds

    def remaining(self, now: float) -> float:
        """Return the remaining seconds.

        :raises TimeoutError: the deadline has passed.
        """
        if now >= self._end:
            noted = 0.0 if self._notes is None else last_note(self._notes)[0] + self._seconds
            # The note is not trusted: the worker may have written an arbitrary time into it.
            if not now < noted <= now + self._seconds:
                noted = self._start + self._seconds + self._waited()
            if now >= noted:
                raise TimeoutError
            self._end = noted
        return self._end - now

    def _waited(self) -> float:
        """Return the waiting time since the start of the thread that waited longest."""
        if not self._pid:
            return 0.0
        times = waiting_times(self._pid)
        waited = max((time - self._before.get(each, 0) for each, time in times.items()), default=0)
        return min(waited, _LONGEST * self._seconds)
