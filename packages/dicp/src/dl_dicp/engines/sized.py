"""Graph of a program for many sizes that an engine runs.

An engine that takes symbols compiles the graph once. Any other engine compiles it for one tuple of
sizes at a time, as graphs of fixed sizes.
"""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from dl_dicp.engines.engine import PlacedGraph
from dl_dicp.engines.interface import GraphEngine, Runner, takes_symbols
from dl_dicp.engines.runner import EngineProgram, Memory, memory_of, warn_dropped
from dl_dicp.program.document import Scope
from dl_dicp.program.specialized import specialize
from dl_dicp.statistics import statistics

MOST_TUPLES = 16
"""Maximum number of tuples of sizes for which one graph is compiled."""
PATIENCE = 8
"""Number of runs after which another tuple of sizes replaces the least recently used one. Compiling
takes much longer than a run, and a sequence that grows has each length once."""
MOST_COUNTED = 256
"""Maximum number of tuples of sizes whose runs are counted."""
MOST_BOUND = 64
"""Maximum number of tuples of sizes that are kept for code that serves all sizes."""
TRIALS = 2
"""Number of tuples of sizes at which such code must agree with the executor."""

REJECTED_SIZES = "it does not accept the graph at some sizes"
TOO_MANY_SIZES = f"the graph has run with more than {MOST_TUPLES} tuples of sizes"


class SizedProgram:
    """Programs of an engine for one graph, by the sizes of its symbols.

    :param name: name of the engine.
    :param make: class of the programs for one tuple of sizes.
    :param plain: the executor's program, which serves all sizes.
    """

    def __init__(
        self,
        name: str,
        engine: GraphEngine,
        make: Callable[..., EngineProgram],
        graph: PlacedGraph,
        plain: Any,
        scope: Scope,
    ) -> None:
        self._name = name
        self._engine = engine
        self._make = make
        self._graph = graph
        self._plain = plain
        self._names = tuple(scope.ranges)
        self._all_sizes = _AllSizes(engine) if takes_symbols(engine) else None
        self._programs: OrderedDict[tuple[int, ...], EngineProgram | None] = OrderedDict()
        self._misses: Counter[tuple[int, ...]] = Counter()
        self._is_full = False
        self._agreed = 0
        self._lock = threading.RLock()
        self.dropped = ""

    def run(self, values: list[Any], sizes: tuple[int, ...]) -> list[torch.Tensor]:
        """Return the new tensors of the graph.

        :raises RuntimeError: the engine failed and may have written to an argument.
        """
        program = None if self.dropped else self._program(sizes)
        if program is None:
            return list(self._plain.run(values, sizes))
        is_new = not program.agreed
        made = program.run(values)
        if is_new or program.dropped:
            self._learn(program)
        return made

    def line(self) -> str:
        """Return a line about the graph for reports."""
        name = f"graph engine {self._name} {self._engine.version}"
        if self.dropped:
            return f"{name} was dropped, and the executor runs it: {self.dropped}"
        programs = [each for each in self._programs.values() if each is not None]
        reasons = {each.dropped for each in programs if each.dropped}
        agreed = sum(each.agreed and not each.dropped for each in programs)
        said = f"{name}, which agreed with the executor at {agreed} tuples of sizes"
        said = said if agreed or reasons else f"{name}, not run yet"
        return "; dropped at other sizes: ".join([said, *sorted(reasons)])

    def _program(self, sizes: tuple[int, ...]) -> EngineProgram | None:
        """Return the program for a tuple of sizes, or None if the executor runs the graph."""
        with self._lock:
            if sizes in self._programs:
                self._programs.move_to_end(sizes)
                return self._programs[sizes]
            full = MOST_TUPLES if self._all_sizes is None else MOST_BOUND
            if len(self._programs) >= full:
                if self._all_sizes is None and not self._is_worth(sizes):
                    return None
                self._programs.popitem(last=False)
            made = self._programs[sizes] = self._create(sizes)
            return made

    def _is_worth(self, sizes: tuple[int, ...]) -> bool:
        """Return True if a tuple has run often enough to replace another one."""
        if not self._is_full:
            self._is_full = True
            statistics.count_dropped(self._name, TOO_MANY_SIZES)
        if len(self._misses) >= MOST_COUNTED:
            self._misses.clear()
        self._misses[sizes] += 1
        if self._misses[sizes] < PATIENCE:
            return False
        del self._misses[sizes]
        return True

    def _create(self, sizes: tuple[int, ...]) -> EngineProgram | None:
        document = self._graph.region.document
        memory = memory_of(self._graph, sizes)
        if self._all_sizes is not None:
            engine = self._all_sizes.at(sizes)
            program = self._of(engine, document, memory, sizes)
            if self._agreed >= TRIALS:
                program.trust()
            return program
        fixed = specialize(document, dict(zip(self._names, sizes, strict=True)))
        try:
            if not all(self._engine.accepts(fixed)):
                statistics.count_dropped(self._name, REJECTED_SIZES)
                return None
        except Exception as error:  # noqa: BLE001 - the graph must run whatever a plugin raises
            why = f"its method accepts() failed: {type(error).__name__}: {error}"
            statistics.count_dropped(self._name, why)
            warn_dropped(self._name, why)
            return None
        return self._of(self._engine, fixed, memory, sizes)

    def _of(
        self,
        engine: GraphEngine,
        document: Mapping[str, Any],
        memory: Memory,
        sizes: tuple[int, ...],
    ) -> EngineProgram:
        return self._make(
            self._name, engine, document, self._plain, memory, self._graph.device, sizes
        )

    def _learn(self, program: EngineProgram) -> None:
        """Draw conclusions for other sizes from a run of code that serves all sizes."""
        if self._all_sizes is None:
            return
        with self._lock:
            self._agreed += program.agreed and not program.dropped
            self.dropped = self.dropped or program.dropped


class _AllSizes:
    """Code of a graph for all sizes, compiled and loaded once."""

    def __init__(self, engine: GraphEngine) -> None:
        self.engine = engine
        self._code: bytes | None = None
        self._runner: Any = None

    def at(self, sizes: tuple[int, ...]) -> GraphEngine:
        """Return a graph engine for one tuple of sizes."""
        return _AtSizes(self, sizes)

    def compile(self, graph: Mapping[str, Any]) -> bytes:
        if self._code is None:
            self._code = self.engine.compile(graph)
        return self._code

    def load(self, code: bytes) -> Any:
        if self._runner is None:
            self._runner = self.engine.load(code)
        return self._runner


class _AtSizes:
    """Graph engine that runs code for all sizes with one tuple of sizes."""

    def __init__(self, shared: _AllSizes, sizes: tuple[int, ...]) -> None:
        self._shared = shared
        self._sizes = sizes
        self.version = shared.engine.version
        self.cache_key = getattr(shared.engine, "cache_key", "")

    def accepts(self, graph: Mapping[str, Any]) -> Sequence[bool]:
        return self._shared.engine.accepts(graph)

    def compile(self, graph: Mapping[str, Any]) -> bytes:
        return self._shared.compile(graph)

    def load(self, code: bytes) -> Runner:
        runner = self._shared.load(code)

        def run(addresses: Sequence[int], stream: int) -> None:
            runner(addresses, stream, self._sizes)

        return run
