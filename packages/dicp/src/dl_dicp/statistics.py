"""What compiled programs did, counted in this process."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass
class Statistics:
    """Counters since the start or the last :meth:`reset`. Safe to use from any thread.

    :ivar compiled: FX graphs that became programs, once for each layout of their arguments.
    :ivar recorded: runs of FX graphs that were recorded to make programs of them.
    :ivar graphs: runs of contract graphs.
    :ivar calls: calls of the vendor's operators in them.
    :ivar tiled_calls: those of them that ran block by block.
    :ivar eager: runs of whole FX graphs operator by operator, by the reason.
    :ivar fixed: programs for one layout of graphs whose sizes vary, by the reason.
    :ivar host_calls: operators that ran eagerly between graphs, by name.
    :ivar cache_hits: contract graphs that were there already.
    """

    compiled: int = 0
    recorded: int = 0
    graphs: int = 0
    calls: int = 0
    cache_hits: int = 0
    tiled_calls: int = 0
    eager: Counter[str] = field(default_factory=Counter)
    fixed: Counter[str] = field(default_factory=Counter)
    host_calls: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._lock = threading.Lock()

    def count(self, *, compiled: int = 0, recorded: int = 0, cache_hits: int = 0) -> None:
        """Add to the counters."""
        with self._lock:
            self.compiled += compiled
            self.recorded += recorded
            self.cache_hits += cache_hits

    def count_run(
        self, graphs: int, calls: int, hosts: Sequence[str], tiled_calls: int = 0
    ) -> None:
        """One run of a program."""
        with self._lock:
            self.graphs += graphs
            self.calls += calls
            self.tiled_calls += tiled_calls
            if hosts:
                self.host_calls.update(hosts)

    def count_eager(self, reason: str) -> None:
        """One eager run of a graph."""
        with self._lock:
            self.eager[reason] += 1

    def count_fixed(self, reason: str) -> None:
        """One layout of a graph whose sizes vary."""
        with self._lock:
            self.fixed[reason] += 1

    def snapshot(self) -> Statistics:
        """A copy that no longer changes."""
        with self._lock:
            return Statistics(
                self.compiled,
                self.recorded,
                self.graphs,
                self.calls,
                self.cache_hits,
                self.tiled_calls,
                Counter(self.eager),
                Counter(self.fixed),
                Counter(self.host_calls),
            )

    def reset(self) -> None:
        """Begin anew."""
        with self._lock:
            self.compiled = self.recorded = self.graphs = self.calls = self.cache_hits = 0
            self.tiled_calls = 0
            self.eager.clear()
            self.fixed.clear()
            self.host_calls.clear()


statistics = Statistics()
"""Of this process."""
