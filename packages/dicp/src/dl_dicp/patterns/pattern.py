"""Interface of patterns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from dl_dicp.patterns.sequence import Calls
from dl_dicp.recording.calls import Call

PRIVATE = "private"
"""Condition of every pattern with intermediate tensors; :mod:`.rewrite` checks it."""
PRIVATE_WORDS = "an intermediate tensor is used elsewhere"


@dataclass(frozen=True)
class Match:
    """Sequence of calls that can be rewritten.

    :ivar members: indices of its calls; the fused call replaces the last one.
    :ivar call: the fused call. It writes the result of the last member; all other tensors that it
        writes are results of earlier members.
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
    """Torch function, and a function that creates its arguments on the CPU."""

    function: Callable[..., Any]
    arguments: Callable[[], tuple[Any, ...]]


@dataclass(frozen=True)
class Cases:
    """Examples with which a pattern is tested.

    :ivar fires: functions that must be rewritten.
    :ivar declines: for each condition, a function that must not be rewritten because of it.
    """

    fires: tuple[Case, ...]
    declines: Mapping[str, Case]


class Pattern(Protocol):
    """Interface of a pattern. It inspects calls and does not change them."""

    @property
    def name(self) -> str:
        """Return the name in ``options={"patterns": [...]}``."""

    @property
    def default(self) -> bool:
        """Return True if the pattern is enabled by default."""

    @property
    def conditions(self) -> Mapping[str, str]:
        """Return the reasons to decline by name, as clauses that complete "left alone, because"."""

    def match(self, calls: Calls, last: int) -> Match | Declined | None:
        """Match the sequence that ends with a call; return None if it is not of this pattern.

        Sizes may be expressions: compare them with :func:`~dl_dicp.patterns.same_sizes` and
        :meth:`Calls.at_least`. Different expressions may have equal values.
        """

    def cases(self) -> Cases:
        """Return the examples that ``dl dicp test patterns`` tests."""
