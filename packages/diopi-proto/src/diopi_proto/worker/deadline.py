"""Deadline of a call. A worker that makes progress can renew it with notes."""

from __future__ import annotations

import time

from .notes import last_note


class Deadline:
    """Deadline some seconds after its creation.

    :param notes: descriptor of the file of notes; the last note renews the deadline. None: no
        renewal.
    """

    def __init__(self, seconds: float, notes: int | None = None) -> None:
        self._seconds, self._notes = seconds, notes
        self._end = time.monotonic() + seconds

    def remaining(self, now: float) -> float:
        """Return the remaining seconds.

        :raises TimeoutError: the deadline has passed.
        """
        if now >= self._end:
            noted = 0.0 if self._notes is None else last_note(self._notes)[0] + self._seconds
            # The note is not trusted: the worker may have written an arbitrary time into it.
            if not now < noted <= now + self._seconds:
                raise TimeoutError
            self._end = noted
        return self._end - now
