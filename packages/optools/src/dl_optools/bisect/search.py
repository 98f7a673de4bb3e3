"""Finding the few elements that make a test fail, by as few tests as can be.

Delta debugging by halves: the shortest failing prefix of the elements ends with one that is needed,
which log2(n) tests find; with it kept, the same search among those before it finds the next. That
is O(k log n) tests for k elements, as in QuickXplain (Junker, 2004). Where a test is not monotone -
more elements can hide a failure - ddmin reduces what fails (Zeller and Hildebrandt, Simplifying and
Isolating Failure-Inducing Input, 2002).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

Elements = frozenset[str]
Test = Callable[[Elements], bool]
"""Whether these elements, and no others, make it fail."""


@dataclass(frozen=True)
class Found:
    """The outcome of a search.

    :ivar groups: each a smallest set that fails by itself, in the order of being found; without all
        of them nothing fails, unless ``left`` says otherwise.
    :ivar left: the rest fails still: the search stopped at its limit.
    """

    groups: tuple[tuple[str, ...], ...]
    left: bool = False

    @property
    def elements(self) -> tuple[str, ...]:
        return tuple(name for group in self.groups for name in group)


class Cached:
    """A test that is run once for each set; nothing by itself never fails."""

    def __init__(self, test: Test) -> None:
        self._test = test
        self._known: dict[Elements, bool] = {frozenset(): False}

    def __call__(self, elements: Elements) -> bool:
        known = self._known.get(elements)
        if known is None:
            known = self._known[elements] = self._test(elements)
        return known


Ahead = Callable[[Sequence[Elements]], object]
"""Told which sets will be asked for, so that they can be tested at a time."""


def search(
    elements: Sequence[str],
    test: Test,
    groups: int = 8,
    *,
    ahead: Ahead = lambda sets: None,
    jobs: int = 1,
) -> Found:
    """Find every smallest set that fails, one after the other.

    :param elements: all of them, which fail together.
    :param test: of a subset; asked once for each.
    :param groups: stop after so many.
    :param jobs: tests that can be made at a time: the more, the fewer follow each other.
    """
    cached = Cached(test)
    found: list[tuple[str, ...]] = []
    left = list(elements)
    while cached(frozenset(left)):
        if len(found) == groups:
            return Found(tuple(found), left=True)
        group = smallest(left, cached, ahead, jobs)
        found.append(tuple(x for x in left if x in group))
        left = [x for x in left if x not in group]
    return Found(tuple(found))


def smallest(
    elements: Sequence[str], test: Test, ahead: Ahead = lambda sets: None, jobs: int = 1
) -> Elements:
    """A subset that fails, of which no element can be left out. All together they fail."""
    kept: list[str] = []
    candidates = list(elements)
    while not test(frozenset(kept)):
        if not candidates:
            # Together with others what was kept failed; alone it does not.
            return ddmin(elements, test)
        # The prefix of length `low` does not fail, that of length `high` does.
        low, high = 0, len(candidates)
        while high - low > 1:
            parts = min(jobs, high - low - 1) + 1
            cuts = [low + (high - low) * part // parts for part in range(1, parts)]
            if jobs > 1:
                ahead([frozenset(kept + candidates[:cut]) for cut in cuts])
            # The first cut that fails, and the last one before it that does not.
            for cut in cuts:
                if test(frozenset(kept + candidates[:cut])):
                    high = cut
                    break
                low = cut
        kept.append(candidates[high - 1])
        candidates = candidates[: high - 1]
    return frozenset(kept)


def ddmin(elements: Sequence[str], test: Test) -> Elements:
    """The same in the general case, with up to O(n squared) tests."""
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
