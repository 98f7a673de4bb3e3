"""Steps of a program, and the values that later steps use."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from torch.utils._pytree import tree_flatten

from dl_core import _C
from dl_dicp.program.cache import CachedGraph
from dl_dicp.recording.memory import Ref
from dl_dicp.recording.trace import Host, Lowered, Trace

Values = list[Any]
"""Values of a run by slot: arguments, constants, results of steps, and finally the sizes."""

Pick = Callable[[Values], Any]


@dataclass
class GraphStep:
    """Step that runs a contract graph; its new tensors go to ``slots``.

    :ivar program: runs the graph; in the steps of a program, only in trial runs.
    :ivar real: runs the graph in real runs.
    """

    program: Any
    real: Any
    slots: list[int]

    def __call__(self, values: Values) -> None:
        for slot, made in zip(self.slots, self.program.run(values, values[-1]), strict=True):
            values[slot] = made


@dataclass
class HostStep:
    """Step that runs an operator eagerly; its tensors go to ``slots``."""

    target: Callable[..., Any]
    arguments: Pick
    slots: list[int]

    def __call__(self, values: Values) -> None:
        args, kwargs = self.arguments(values)
        made, _ = tree_flatten(self.target(*args, **kwargs))
        for slot, value in zip(self.slots, made, strict=True):
            if slot >= 0:
                values[slot] = value


class Kept:
    """dl-core's program, and the graph that it references."""

    def __init__(self, graph: CachedGraph, device: int, make: Callable[[], Any]) -> None:
        self._graph = graph
        self._device = device
        self._make = make
        self._program = make()

    def run(self, values: Values, sizes: tuple[int, ...]) -> Any:
        # A capture needs separate temporaries, so it uses a program that lives only as long as the
        # capture.
        program = self._make() if _C.is_capturing(self._device) else self._program
        return program.run(values, sizes)


def uses_after(later: Sequence[Lowered | Host], output: Any) -> tuple[list[Ref], list[Ref]]:
    """Return the tensors that later host calls or results use, and those that later graphs use."""
    shown: list[Ref] = []
    carried: list[Ref] = []
    for step in later:
        if isinstance(step, Lowered):
            carried += [ref for call in step.calls for ref, _ in call.uses()]
        else:
            shown += [x for x in tree_flatten((step.args, step.kwargs))[0] if isinstance(x, Ref)]
    shown += [x for x in tree_flatten(output)[0] if isinstance(x, Ref)]
    return shown, carried


def all_refs(trace: Trace) -> Iterator[Ref]:
    shown, carried = uses_after(trace.steps, trace.output)
    yield from shown
    yield from carried
