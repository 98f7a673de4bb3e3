"""Uniform sampling without replacement."""

from __future__ import annotations

from .strategy import Strategy


class RandomSearch(Strategy):
    """Proposes every point once, in random order."""

    def propose(self, count: int) -> list[int]:
        """Return new random points."""
        return self.fresh(count)
