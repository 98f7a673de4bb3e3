"""Counters of compiled programs in this process."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Statistics:
    """Counters since the start or the last :meth:`reset`. Safe to use from any thread.

    :ivar compiled: FX graphs that became programs, counted once for each argument layout.
    :ivar recorded: runs of FX graphs that were recorded to create programs.
    :ivar graphs: runs of contract graphs.
    :ivar calls: calls of the vendor's operators in contract graphs.
    :ivar tiled_calls: the calls among them that ran block by block.
    :ivar eager: eager runs of whole FX graphs, by reason.
    :ivar fixed: programs for one argument layout although sizes of the graph vary, by reason.
    :ivar host_calls: operators that ran eagerly between graphs, by name.
    :ivar cache_hits: contract graphs that were found in the cache.
    :ivar engine_runs: graph runs by engines other than the executor, by engine.
    :ivar dropped: graphs that an engine left to the executor, by engine and reason.
    :ivar patterns: matches that were rewritten, by pattern.
    :ivar captures: captured device graphs, by reason.
    :ivar declined: sequences that a pattern matched but did not rewrite, by pattern and reason.
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
    engine_runs: Counter[str] = field(default_factory=Counter)
    dropped: Counter[tuple[str, str]] = field(default_factory=Counter)
    patterns: Counter[str] = field(default_factory=Counter)
    declined: Counter[tuple[str, str]] = field(default_factory=Counter)
    captures: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._lock = threading.Lock()

    def count(self, *, compiled: int = 0, recorded: int = 0, cache_hits: int = 0) -> None:
        """Increase counters."""
        with self._lock:
            self.compiled += compiled
            self.recorded += recorded
            self.cache_hits += cache_hits

    def count_run(
        self, graphs: int, calls: int, hosts: Sequence[str], tiled_calls: int = 0
    ) -> None:
        """Count a run of a program."""
        with self._lock:
            self.graphs += graphs
            self.calls += calls
            self.tiled_calls += tiled_calls
            if hosts:
                self.host_calls.update(hosts)

    def count_eager(self, reason: str) -> None:
        """Count an eager run of a graph."""
        with self._lock:
            self.eager[reason] += 1

    def count_engine_run(self, name: str) -> None:
        """Count a run of a graph by an engine."""
        with self._lock:
            self.engine_runs[name] += 1

    def count_dropped(self, name: str, reason: str) -> None:
        """Count a graph that an engine has dropped."""
        with self._lock:
            self.dropped[name, reason] += 1

    def count_capture(self, why: str) -> None:
        """Count a captured device graph."""
        with self._lock:
            self.captures[why] += 1

    def count_patterns(self, fired: Sequence[str], declined: Sequence[tuple[str, str]]) -> None:
        """Count the outcomes of patterns on one program."""
        with self._lock:
            self.patterns.update(fired)
            self.declined.update(declined)

    def count_fixed(self, reason: str) -> None:
        """Count a layout of a graph whose sizes vary."""
        with self._lock:
            self.fixed[reason] += 1

    def snapshot(self) -> Statistics:
        """Return a snapshot of the counters."""
        with self._lock:
            return Statistics(
                self.compiled,
                self.recorded,
                self.graphs,
                self.calls,
                self.cache_hits,
                self.tiled_calls,
                *(Counter(each) for each in self._counters()),
            )

    def reset(self) -> None:
        """Reset all counters."""
        with self._lock:
            self.compiled = self.recorded = self.graphs = self.calls = self.cache_hits = 0
            self.tiled_calls = 0
            for counter in self._counters():
                counter.clear()

    def _counters(self) -> tuple[Counter[Any], ...]:
        return (
            self.eager,
            self.fixed,
            self.host_calls,
            self.engine_runs,
            self.dropped,
            self.patterns,
            self.declined,
            self.captures,
        )


statistics = Statistics()
"""Counters of this process."""
