"""Uniform sampling without replacement."""

from __future__ import annotations

from .strategy import Strategy


class RandomSearch(Strategy):
    """Propose every point once, in random order."""

    def propose(self, count: int) -> list[int]:
        """Any that are new."""
        return self.fresh(count)
