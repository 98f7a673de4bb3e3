"""Search for the few elements that make a test fail, with as few tests as possible.

Delta debugging by bisection: the shortest failing prefix of the elements ends with a necessary
element, which log2(n) tests find; with it fixed, the same search among the elements before it finds
the next. That is O(k log n) tests for k elements, as in QuickXplain (Junker, 2004). If a test is
not monotone - additional elements can mask a failure - ddmin reduces the failing set (Zeller and
Hildebrandt, Simplifying and Isolating Failure-Inducing Input, 2002).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

Elements = frozenset[str]
Test = Callable[[Elements], bool]
"""Returns True if these elements, and no others, make the test fail."""


@dataclass(frozen=True)
class SearchResult:
    """The outcome of a search.

    :ivar groups: minimal failing sets in the order in which they were found; with all
        groups removed nothing fails, unless ``left`` is True.
    :ivar left: the rest still fails: the search stopped at its limit.
    """

    groups: tuple[tuple[str, ...], ...]
    left: bool = False

    @property
    def elements(self) -> tuple[str, ...]:
        return tuple(name for group in self.groups for name in group)


class CachedTest:
    """A test that runs once for each set; the empty set never fails."""

    def __init__(self, test: Test) -> None:
        self._test = test
        self._known: dict[Elements, bool] = {frozenset(): False}

    def __call__(self, elements: Elements) -> bool:
        known = self._known.get(elements)
        if known is None:
            known = self._known[elements] = self._test(elements)
        return known


Ahead = Callable[[Sequence[Elements]], object]
"""Receives the sets that will be tested next, so that they can run concurrently."""


def search(
    elements: Sequence[str],
    test: Test,
    groups: int = 8,
    *,
    ahead: Ahead = lambda sets: None,
    jobs: int = 1,
) -> SearchResult:
    """Find all minimal failing sets, one after the other.

    :param elements: all elements, which fail together.
    :param test: test of a subset; called once for each.
    :param groups: maximum number of groups.
    :param jobs: number of concurrent tests: with more of them, fewer rounds are needed.
    """
    cached = CachedTest(test)
    found: list[tuple[str, ...]] = []
    left = list(elements)
    while cached(frozenset(left)):
        if len(found) == groups:
            return SearchResult(tuple(found), left=True)
        group = find_minimal(left, cached, ahead, jobs)
        found.append(tuple(x for x in left if x in group))
        left = [x for x in left if x not in group]
    return SearchResult(tuple(found))


def find_minimal(
    elements: Sequence[str], test: Test, ahead: Ahead = lambda sets: None, jobs: int = 1
) -> Elements:
    """Return a minimal failing subset of elements that fail together."""
    kept: list[str] = []
    candidates = list(elements)
    while not test(frozenset(kept)):
        if not candidates:
            # The fixed elements failed together with others; they do not fail alone.
            return ddmin(elements, test)
        # The prefix of length `low` passes, the one of length `high` fails.
        low, high = 0, len(candidates)
        while high - low > 1:
            parts = min(jobs, high - low - 1) + 1
            cuts = [low + (high - low) * part // parts for part in range(1, parts)]
            if jobs > 1:
                ahead([frozenset(kept + candidates[:cut]) for cut in cuts])
            # The first cut that fails, and the last cut before it that passes.
            for cut in cuts:
                if test(frozenset(kept + candidates[:cut])):
                    high = cut
                    break
                low = cut
        kept.append(candidates[high - 1])
        candidates = candidates[: high - 1]
    return frozenset(kept)


def ddmin(elements: Sequence[str], test: Test) -> Elements:
    """Reduce a failing set without assuming monotonicity, with up to O(n^2) tests."""
    current = list(elements)
    parts = 2
    while len(current) > 1:
        size = -(-len(current) // parts)
        chunks = [current[at : at + size] for at in range(0, len(current), size)]
        failing = next((x for x in chunks if test(frozenset(x))), None)
        if failing is not None:
            current, parts = failing, 2
            continue
        rests = ([x for x in current if x not in chunk] for chunk in map(set, chunks))
        rest = next((x for x in rests if test(frozenset(x))), None)
        if rest is not None:
            current, parts = rest, max(parts - 1, 2)
        elif parts >= len(current):
            break
        else:
            parts = min(len(current), 2 * parts)
    return frozenset(current)
