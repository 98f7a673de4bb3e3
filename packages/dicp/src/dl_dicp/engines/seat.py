"""Where an engine of a plugin sits in a program: the graphs that it got, and why it got no more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from dl_dicp.capture.program import CapturedProgram, tell_once, why_never
from dl_dicp.capture.recording import why_not
from dl_dicp.capture.replays import Ports
from dl_dicp.document import Region
from dl_dicp.memory import Block
from dl_dicp.statistics import statistics
from dl_dicp.trace import Host, Lowered, Trace

from . import registry
from .interface import GraphEngine
from .offers import offered
from .runner import EngineProgram, Layout, Memory, places_of, tell_dropped


class Seat:
    """The choice of an engine for one program.

    :param name: one of :func:`~dl_dicp.engines.registry.names`.
    :param varying: whether the program is for many sizes, which engines of plugins do not take.
    :ivar executor: how the executor runs what no engine of a plugin does.
    :ivar programs: what such an engine got, by the place of the contract graph.
    :ivar captured: where graphs are captured: what does so, by the place of the contract graph.
    :ivar problem: why it got none; empty: nothing is wrong.
    """

    def __init__(self, name: str, *, varying: bool = False) -> None:
        self.name = name
        self._varying = varying
        self.executor = name if name in registry.EXECUTOR else "tiled"
        self.programs: dict[int, EngineProgram] = {}
        self.captured: dict[int, CapturedProgram] = {}
        self.problem = ""
        self._engine: GraphEngine | None = None

    def steps(self, trace: Trace, given: set[Block]) -> list[Lowered | Host]:
        """The steps of a trace, with what the engine accepts in steps of their own.

        :param given: blocks that were made before the trace.
        """
        if self.name == self.executor:
            return trace.steps
        if self.name == registry.CAPTURE:
            self.problem = why_not(trace.device)
            return trace.steps
        engine: GraphEngine | str = "the sizes of the graph vary"
        if not self._varying:
            engine = registry.opened(self.name, trace.device)
        if not isinstance(engine, str):
            try:
                steps = offered(trace, engine, given)
            except Exception as error:  # noqa: BLE001 - whatever a wheel raises, the graph runs
                engine = f"it does not say what it accepts: {type(error).__name__}: {error}"
            else:
                self._engine = engine
                return steps
        self.problem = engine
        statistics.count_dropped(self.name, engine)
        if self.name != registry.CODEGEN:  # which is never needed
            tell_dropped(self.name, engine)
        return trace.steps

    def take(
        self,
        place: int,
        region: Region,
        contract: Any,
        inputs: list[tuple[int, Layout, bool]],
        outputs: list[tuple[int, Layout]],
        device: torch.device,
    ) -> EngineProgram:
        """Give the engine a graph that it accepted.

        :param place: of the graph among those of the program.
        :param contract: the program of the executor for it.
        :param inputs: slots, layouts and whether they are written, as dl-core takes them.
        :param outputs: places of blocks that the graph makes, and how tensors lie in them.
        """
        assert self._engine is not None
        memory = Memory(
            places_of(region.document, [slot for slot, _, _ in inputs]),
            # What other steps made is written to as well, whatever torch's graph says of arguments.
            [
                slot
                for (slot, _, writes), block in zip(inputs, region.inputs, strict=True)
                if writes or block in region.written
            ],
            [block.size for block in region.made],
            outputs,
        )
        kind = EngineProgram
        if self.name == registry.CODEGEN:
            from dl_dicp.codegen.racing import RacingProgram  # few choose it

            kind = RacingProgram
        made = kind(self.name, self._engine, region.document, contract, memory, device)
        self.programs[place] = made
        return made

    def capture(
        self,
        place: int,
        region: Region,
        plain: Any,
        inputs: Sequence[tuple[int, Any, bool]],
        device: torch.device,
        count: int,
    ) -> CapturedProgram | None:
        """What captures a graph; None: graphs are not captured.

        :param place: of the graph among those of the program.
        :param plain: the program of the executor for it.
        :param inputs: slots, layouts and whether they are written, as dl-core takes them.
        :param count: of the arguments, which have the first slots.
        """
        if self.name != registry.CAPTURE or self.problem:
            return None
        slots = [slot for slot, _, _ in inputs]
        # Of arguments, those that the graph of torch writes; a call may only be able to. Of what
        # other steps made, all.
        written = frozenset(
            slot
            for (slot, _, writes), block in zip(inputs, region.inputs, strict=True)
            if writes or (slot >= count and block in region.written)
        )
        ports = Ports(slots, written)
        self.captured[place] = CapturedProgram(plain, ports, device, why_never(region))
        return self.captured[place]

    def begin(self, check: bool) -> None:
        """Real runs follow.

        :param check: whether first replays are compared with plain runs.
        """
        if self.name == registry.CAPTURE and self.problem:
            statistics.count_dropped(self.name, self.problem)
            tell_once(self.problem)
        for each in self.captured.values():
            each.begin(check)
