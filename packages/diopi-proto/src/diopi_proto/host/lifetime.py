"""A vendor instance is destroyed once it is closed and nothing that came from it is left."""

from __future__ import annotations

import threading
from collections.abc import Callable

from ..errors import ClosedError


class Lifetime:
    """Counts what keeps an instance alive. Thread-safe, and safe to use from finalizers."""

    def __init__(self, destroy: Callable[[], None], name: str) -> None:
        self._destroy = destroy
        self._name = name
        # Reentrant: the garbage collector may run finalizers anywhere, here too.
        self._lock = threading.RLock()
        self._holders = 0
        self._closed = False
        self._destroyed = False

    @property
    def closed(self) -> bool:
        return self._closed

    def check_open(self) -> None:
        """:raises ClosedError: the instance was closed."""
        if self._closed:
            raise ClosedError(f"vendor {self._name} was closed; load it again with load_vendor")

    def hold(self) -> None:
        """Keep the instance alive until :meth:`drop`.

        :raises ClosedError: the instance was closed.
        """
        with self._lock:
            self.check_open()
            self._holders += 1

    def drop(self, release: Callable[[], None] | None = None) -> None:
        """Undo one :meth:`hold`. ``release`` runs first, unless the instance is gone already."""
        with self._lock:
            if release is not None and not self._destroyed:
                release()
            self._holders -= 1
            self._settle()

    def close(self) -> None:
        """Refuse new holders; destroy the instance now, or when its last holder is gone."""
        with self._lock:
            self._closed = True
            self._settle()

    def destroy_now(self) -> None:
        """Destroy the instance whoever holds it: the process ends."""
        with self._lock:
            self._closed = True
            self._holders = 0
            self._settle()

    def _settle(self) -> None:
        if self._closed and self._holders <= 0 and not self._destroyed:
            self._destroyed = True
            self._destroy()
