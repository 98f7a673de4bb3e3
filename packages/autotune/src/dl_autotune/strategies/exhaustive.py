"""Exhaustive search in the order of the space."""

from __future__ import annotations

from ..spaces import SearchSpace
from .strategy import Strategy


class Exhaustive(Strategy):
    """Proposes every point in order; `seed` has no effect.

    :param first: first proposed point; points before it are not proposed.
    """

    def __init__(self, space: SearchSpace, *, seed: int = 0, first: int = 0) -> None:
        super().__init__(space, seed=seed)
        self._next = first

    def propose(self, count: int) -> list[int]:
        """Return the next points."""
        found: list[int] = []
        while len(found) < count and self._next < self.space.size:
            if not self.was_proposed(self._next):
                found.append(self._next)
            self._next += 1
        return found
