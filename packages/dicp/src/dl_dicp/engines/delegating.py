"""Engines that offer calls to a :class:`~.interface.GraphEngine` and check what it returns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import torch

from dl_dicp.recording.memory import Block
from dl_dicp.recording.trace import Host, Lowered, Trace
from dl_dicp.statistics import statistics

from .engine import Engine, PlacedGraph
from .interface import GraphEngine
from .offers import offer_calls
from .runner import EngineProgram, Memory, places_of, warn_dropped

SIZES_VARY = "the sizes of the graph vary"
"""Reason for which an engine of a plugin cannot run a graph that serves all sizes."""


class DelegatingEngine(Engine):
    """Engine that offers calls to a graph engine; the executor runs the calls that it rejects.

    :cvar program_class: class that runs a graph that the graph engine accepted.
    :cvar warns: whether the user is warned if the graph engine runs nothing.
    :ivar programs: graphs that the graph engine accepted, by their index.
    """

    program_class: ClassVar[type[EngineProgram]] = EngineProgram
    warns: ClassVar[bool] = True

    def __init__(self, name: str, *, varying: bool = False) -> None:
        super().__init__(name, varying=varying)
        self.programs: dict[int, EngineProgram] = {}
        self._engine: GraphEngine | None = None

    def open(self, device: torch.device) -> GraphEngine | str:
        """Return the graph engine for a device, or the reason why it has none."""
        raise NotImplementedError

    def steps(self, trace: Trace, given: set[Block]) -> list[Lowered | Host]:
        """See :meth:`Engine.steps`."""
        engine: GraphEngine | str = SIZES_VARY
        if not self.varying:
            engine = self.open(trace.device)
        if not isinstance(engine, str):
            try:
                steps = offer_calls(trace, engine, given)
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
        region = graph.region
        memory = Memory(
            places_of(region.document, [slot for slot, _, _ in graph.inputs]),
            # Blocks that other steps created may be written as well; torch's graph knows only
            # about arguments.
            [
                slot
                for (slot, _, writes), block in zip(graph.inputs, region.inputs, strict=True)
                if writes or block in region.written
            ],
            [block.size for block in region.made],
            list(graph.outputs),
        )
        program = self.program_class(
            self.name, self._engine, region.document, plain, memory, graph.device
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
