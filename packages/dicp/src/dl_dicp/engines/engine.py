"""The interface of engines, which run the graphs of a program."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import torch
from torch.fx import GraphModule

from dl_dicp.program.document import FIXED, Region, Scope
from dl_dicp.recording.memory import Block
from dl_dicp.recording.shapes import Sizes
from dl_dicp.recording.trace import Host, Lowered, Trace

if TYPE_CHECKING:
    from dl_dicp.options import Options

Layout = tuple[torch.dtype, tuple[int, ...], tuple[int, ...], int]


@dataclass(frozen=True)
class PlacedGraph:
    """Contract graph in a program.

    :ivar index: index among the contract graphs of the program.
    :ivar region: its calls and blocks.
    :ivar inputs: for each input its slot, its layout, and whether it is written, in dl-core's form.
    :ivar outputs: indices of blocks that the graph creates, and layouts of the tensors in them.
    :ivar device: device on which it runs.
    :ivar argument_count: number of the program's arguments, which have the first slots.
    :ivar is_offered: whether the engine has accepted its calls.
    """

    index: int
    region: Region
    inputs: Sequence[tuple[int, Any, bool]]
    outputs: Sequence[tuple[int, Layout]]
    device: torch.device
    argument_count: int
    is_offered: bool

    def find_written_slots(self) -> set[int]:
        """Return the slots of inputs that the graph writes to.

        An argument counts if torch's graph writes to it: that a call could write to it does not
        suffice. A block that another step created counts if a call could write to it.
        """
        return {
            slot
            for (slot, _, writes), block in zip(self.inputs, self.region.inputs, strict=True)
            if writes or (slot >= self.argument_count and block in self.region.written)
        }


class Engine:
    """Engine that runs the contract graphs of one program. This base class uses the executor.

    :param name: value of the option ``engine``.
    :param scope: the sizes that the program serves.
    :param example: sizes of the symbols in the first call.
    :cvar executor: how the executor runs graphs that the engine does not run: ``"contract"`` or
        ``"tiled"``.
    :ivar problem: why the engine runs no graph; empty if it can.
    """

    executor: ClassVar[str] = "tiled"

    def __init__(self, name: str, *, scope: Scope = FIXED, example: Sizes | None = None) -> None:
        self.name = name
        self.scope = scope
        self.example = example or {}
        self.problem = ""

    @classmethod
    def compile_module(
        cls, module: GraphModule, examples: Sequence[Any], options: Options
    ) -> Callable[..., Any] | str | None:
        """Compile a Dynamo graph as a whole.

        :returns: the compiled function; or the reason why there is none, in which case the default
            engine runs the graph; or None if the engine runs contract graphs.
        """
        return None

    def steps(self, trace: Trace, given: set[Block]) -> list[Lowered | Host]:
        """Return the steps of a trace; calls that the engine accepts are in separate steps.

        :param given: blocks that were created before the trace.
        """
        return trace.steps

    def place(self, graph: PlacedGraph, plain: Any) -> tuple[Any, Any]:
        """Return the program that runs a graph in trial runs, and the one for real runs.

        :param plain: the executor's program for the graph.
        """
        return plain, plain

    def begin(self, check: bool) -> None:
        """Prepare for real runs.

        :param check: whether results of the engine are compared before they are used.
        """

    def runs(self, index: int) -> bool:
        """Return True if the engine runs a graph, False if the executor does."""
        return False

    def takes(self, index: int) -> bool:
        """Return True if the engine has accepted a graph, even if it has dropped it since."""
        return False

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield lines of reports, with the index of the graph that each describes."""
        return iter(())

    def begin_builds(self) -> None:
        """Begin to compile the kernels of all graphs, if the engine compiles kernels."""

    def finish_builds(self) -> list[str]:
        """Wait for the kernels of all graphs; return for each graph why it has none, or ``""``."""
        return []
