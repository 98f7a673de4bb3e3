"""Lifetime of a vendor instance: destroyed once it is closed and its last object is gone."""

from __future__ import annotations

import threading
from collections.abc import Callable

from ..errors import ClosedError


class Lifetime:
    """Counter of the objects that keep an instance alive. Thread-safe, and safe in finalizers."""

    def __init__(self, destroy: Callable[[], None], name: str) -> None:
        self._destroy = destroy
        self._name = name
        # Reentrant: the garbage collector may run finalizers within these methods.
        self._lock = threading.RLock()
        self._holders = 0
        self._closed = False
        self._destroyed = False

    @property
    def closed(self) -> bool:
        return self._closed

    def check_open(self) -> None:
        """Check that the instance is open.

        :raises ClosedError: the instance was closed.
        """
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
        """Undo one :meth:`hold`. Call ``release`` first, unless the instance is already
        destroyed.
        """
        with self._lock:
            if release is not None and not self._destroyed:
                release()
            self._holders -= 1
            self._settle()

    def close(self) -> None:
        """Reject new holders; destroy the instance now, or when its last holder is gone."""
        with self._lock:
            self._closed = True
            self._settle()

    def destroy_now(self) -> None:
        """Destroy the instance at process exit, even if it is still held."""
        with self._lock:
            self._closed = True
            self._holders = 0
            self._settle()

    def _settle(self) -> None:
        if self._closed and self._holders <= 0 and not self._destroyed:
            self._destroyed = True
            self._destroy()
