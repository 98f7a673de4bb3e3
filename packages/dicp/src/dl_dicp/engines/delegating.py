"""Engines that offer calls to a :class:`~.interface.GraphEngine` and check what it returns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import torch

from dl_dicp.program.document import FIXED, Scope
from dl_dicp.recording.memory import Block
from dl_dicp.recording.shapes import Sizes
from dl_dicp.recording.trace import Host, Lowered, Trace
from dl_dicp.statistics import statistics

from .engine import Engine, PlacedGraph
from .interface import GraphEngine
from .offers import offer_calls
from .runner import EngineProgram, memory_of, warn_dropped
from .sized import SizedProgram

SIZES_VARY = "the sizes of the graph vary"
"""Reason for which an engine leaves a graph that serves many sizes to the executor."""


class DelegatingEngine(Engine):
    """Engine that offers calls to a graph engine; the executor runs the calls that it rejects.

    :cvar program_class: class that runs a graph that the graph engine accepted.
    :cvar warns: whether the user is warned if the graph engine runs nothing.
    :cvar serves_sizes: whether it runs graphs that serve many sizes.
    :ivar programs: graphs that the graph engine accepted, by their index.
    """

    program_class: ClassVar[type[EngineProgram]] = EngineProgram
    warns: ClassVar[bool] = True
    serves_sizes: ClassVar[bool] = True

    def __init__(self, name: str, *, scope: Scope = FIXED, example: Sizes | None = None) -> None:
        super().__init__(name, scope=scope, example=example)
        self.programs: dict[int, EngineProgram | SizedProgram] = {}
        self._engine: GraphEngine | None = None

    def open(self, device: torch.device) -> GraphEngine | str:
        """Return the graph engine for a device, or the reason why it has none."""
        raise NotImplementedError

    def steps(self, trace: Trace, given: set[Block]) -> list[Lowered | Host]:
        """See :meth:`Engine.steps`."""
        engine: GraphEngine | str = SIZES_VARY
        if self.serves_sizes or not self.scope.ranges:
            engine = self.open(trace.device)
        if not isinstance(engine, str):
            try:
                steps = offer_calls(trace, engine, given, self.scope, self.example)
            except Exception as error:  # noqa: BLE001 - the graph must run whatever a plugin raises
                engine = f"its method accepts() failed: {type(error).__name__}: {error}"
            else:
                self._engine = engine
                return steps
        self.problem = engine
        statistics.count_dropped(self.name, engine)
        if self.warns:
            warn_dropped(self.name, engine)
        return trace.steps

    def place(self, graph: PlacedGraph, plain: Any) -> tuple[Any, Any]:
        """See :meth:`Engine.place`."""
        if not graph.is_offered:
            return plain, plain
        assert self._engine is not None
        if self.scope.ranges:
            # Trial runs have synthetic sizes, for which nothing should be compiled.
            sized = SizedProgram(
                self.name, self._engine, self.program_class, graph, plain, self.scope
            )
            self.programs[graph.index] = sized
            return plain, sized
        program = self.program_class(
            self.name, self._engine, graph.region.document, plain, memory_of(graph), graph.device
        )
        self.programs[graph.index] = program
        return program, program

    def runs(self, index: int) -> bool:
        """See :meth:`Engine.runs`."""
        return index in self.programs and not self.programs[index].dropped

    def takes(self, index: int) -> bool:
        """See :meth:`Engine.takes`."""
        return index in self.programs

    def lines(self) -> Iterator[tuple[int, str]]:
        """See :meth:`Engine.lines`."""
        for index, program in self.programs.items():
            yield index, program.line()
