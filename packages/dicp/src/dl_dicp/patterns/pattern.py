"""Interface of patterns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from dl_dicp.patterns.sequence import Calls
from dl_dicp.recording.calls import Call

PRIVATE = "private"
"""Condition of every pattern with intermediate tensors, checked for all such patterns."""
PRIVATE_WORDS = "a tensor in between is used elsewhere"


@dataclass(frozen=True)
class Match:
    """Match: a sequence that can be rewritten.

    :ivar members: the places of its calls; the last one is where the fused call will stand.
    :ivar call: the fused call. It writes what the last member writes; whatever else it writes, an
        earlier member does now.
    """

    members: frozenset[int]
    call: Call


@dataclass(frozen=True)
class Declined:
    """Sequence that the pattern recognizes but declines.

    :ivar condition: one of the keys of :attr:`Pattern.conditions`.
    """

    condition: str


@dataclass(frozen=True)
class Case:
    """Function of torch, and the constructor of its arguments on the CPU."""

    function: Callable[..., Any]
    arguments: Callable[[], tuple[Any, ...]]


@dataclass(frozen=True)
class Cases:
    """Examples that a pattern is tested with.

    :ivar fires: functions that have to be rewritten.
    :ivar declines: for each of its conditions one that must not be, because of it.
    """

    fires: tuple[Case, ...]
    declines: Mapping[str, Case]


class Pattern(Protocol):
    """Interface of a pattern. It inspects calls and does not change them."""

    @property
    def name(self) -> str:
        """Name in ``options={"patterns": [...]}``."""

    @property
    def default(self) -> bool:
        """True if the pattern is on by default."""

    @property
    def conditions(self) -> Mapping[str, str]:
        """Reasons to decline by name, as clauses that complete "left alone, because"."""

    def match(self, calls: Calls, last: int) -> Match | Declined | None:
        """Match the sequence that ends with a call. None: it is not a sequence of this pattern.

        Sizes may be expressions: compare them by :func:`~dl_dicp.patterns.same_sizes` and
        :meth:`Calls.at_least`, and take none for different because they look so.
        """

    def cases(self) -> Cases:
        """Return its tests, which ``dl dicp test patterns`` runs."""
