"""Hill climbing: move to better neighbours; restart if there are none."""

from __future__ import annotations

from ..spaces import SearchSpace
from .strategy import Outcome, Strategy

_STARTS = 8
"""Number of random points before the first climb, which begins at the best of them."""
_RESTART = 4
"""Number of random points before each further climb."""


class HillClimbing(Strategy):
    """First-improvement climbing by changes of one parameter, with random restarts.

    :param partner: strategy for which this one climbs: its proposals are not repeated, and the
    first climb begins at its start.
    """

    def __init__(
        self, space: SearchSpace, *, seed: int = 0, partner: Strategy | None = None
    ) -> None:
        super().__init__(space, seed=seed)
        self._starts = _STARTS
        if partner is not None:
            self._proposed, self._starts = partner._proposed, 0
        self._top: Outcome | None = None
        """Current point of the climb."""
        self._around: list[int] = []
        """Neighbours of the current point that are still to be proposed."""
        self._moved = False

    def propose(self, count: int) -> list[int]:
        """Return neighbours of the current point, or starting points."""
        found: list[int] = []
        if self._starts <= 0:
            found = self._neighbours(count)
        if not found:
            if self._starts <= 0:
                self._starts, self._top = _RESTART, None
            found = self.fresh(min(count, self._starts))
            self._starts -= len(found)
        return found

    def _neighbours(self, count: int) -> list[int]:
        if self._top is None:
            return []
        if self._moved:
            self._around = self.space.neighbours(self._top.point)
            self.random.shuffle(self._around)
            self._moved = False
        found: list[int] = []
        while self._around and len(found) < count:
            point = self._around.pop()
            if not self.was_proposed(point):
                found.append(point)
        return found

    def learn(self, outcome: Outcome) -> None:
        """Move to the point if it is better."""
        if outcome.value is None:
            return
        if self._top is None or self._top.value is None or outcome.value < self._top.value:
            self._top, self._moved = outcome, True
