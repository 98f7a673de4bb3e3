"""The engine ``capture``: replays contract graphs as device graphs of the vendor."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dl_dicp.engines.engine import Engine, PlacedGraph
from dl_dicp.program.document import FIXED, Scope
from dl_dicp.recording.memory import Block
from dl_dicp.recording.shapes import Sizes
from dl_dicp.recording.trace import Host, Lowered, Trace
from dl_dicp.statistics import statistics

from .captured_program import CapturedProgram, warn_once, why_never
from .recording import why_not
from .replays import Ports


class DeviceGraphEngine(Engine):
    """Engine that captures each contract graph once it is known which inputs keep their addresses.

    :ivar captured: the captured program of each graph, by the index of the graph.
    """

    def __init__(self, name: str, *, scope: Scope = FIXED, example: Sizes | None = None) -> None:
        super().__init__(name, scope=scope, example=example)
        self.captured: dict[int, CapturedProgram] = {}

    def steps(self, trace: Trace, given: set[Block]) -> list[Lowered | Host]:
        """See :meth:`Engine.steps`."""
        self.problem = why_not(trace.device)
        return trace.steps

    def place(self, graph: PlacedGraph, plain: Any) -> tuple[Any, Any]:
        """See :meth:`Engine.place`. Nothing is captured in trial runs."""
        if self.problem:
            return plain, plain
        ports = Ports([slot for slot, _, _ in graph.inputs], frozenset(graph.find_written_slots()))
        captured = CapturedProgram(plain, ports, graph.device, why_never(graph.region))
        self.captured[graph.index] = captured
        return plain, captured

    def begin(self, check: bool) -> None:
        """See :meth:`Engine.begin`."""
        if self.problem:
            statistics.count_dropped(self.name, self.problem)
            warn_once(self.problem)
        for each in self.captured.values():
            each.begin(check)

    def lines(self) -> Iterator[tuple[int, str]]:
        """See :meth:`Engine.lines`."""
        for index, captured in self.captured.items():
            for line in captured.lines():
                yield index, line
