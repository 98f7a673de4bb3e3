"""Compiled program: contract graphs with host calls between them, run on torch tensors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import torch
from torch.utils._pytree import tree_flatten, tree_map

from diopi_proto.errors import DiopiError
from dl_core import _C
from dl_dicp.engines import registry
from dl_dicp.engines.engine import PlacedGraph
from dl_dicp.engines.offers import Offered
from dl_dicp.errors import NotCompiledError, RefusedCallError
from dl_dicp.program.cache import executor, graph_of
from dl_dicp.program.document import FIXED, Region, Scope, build, elements
from dl_dicp.program.packing import packed
from dl_dicp.program.refusals import learn
from dl_dicp.program.steps import GraphStep, HostStep, Kept, Pick, Values, all_refs, uses_after
from dl_dicp.program.tiling import tiled_calls, tiling_of
from dl_dicp.recording.calls import GENERATOR
from dl_dicp.recording.memory import DTYPE_OF, Block, Ref
from dl_dicp.recording.shapes import Sizes
from dl_dicp.recording.trace import Host, Lowered, Opaque, Trace
from dl_dicp.statistics import statistics
from dl_graph import TilingReport
from dl_graph.expression import Expression, Size, evaluate

ANY_OFFSET = -1
"""Value of the storage offset in a layout that allows any offset."""


def _layout(ref: Ref, offset: Size) -> tuple[torch.dtype, Sequence[Size], Sequence[Size], Size]:
    return DTYPE_OF[ref.dtype], ref.shape, ref.strides, offset


class Program:
    """Program that runs a recorded :class:`Trace`.

    :ivar regions: its contract graphs.
    :ivar tilings: for each contract graph, the calls that run block by block.
    :ivar hosts: its host calls.
    :ivar engine: engine that runs its contract graphs.
    :ivar scope: the sizes that it serves.
    :ivar device: device on which it runs.
    :ivar example: the sizes that reports describe.
    :ivar unread: indices of results that the caller does not read.
    :param written: the arguments that torch's graph writes to. Contract operators may have
        arguments that they can write to but do not always, such as those of batch norm.
    :param engine: one of :func:`dl_dicp.engines.registry.names`.
    :param scope: the sizes that the program serves, if the trace is valid for many.
    :param example: the sizes of the symbols that reports describe.
    :raises NotCompiledError: a part of the trace cannot become a graph; the message names it.
    """

    def __init__(
        self,
        trace: Trace,
        written: set[int],
        engine: str = "tiled",
        scope: Scope = FIXED,
        example: Sizes | None = None,
    ) -> None:
        self.engine = registry.create(engine, scope=scope, example=example)
        self.scope = scope
        self.example = example or {}
        self._names = list(scope.ranges)
        self._written = written
        self.regions: list[Region] = []
        self.tilings: list[TilingReport] = []
        self.hosts: list[Host] = []
        self.device = trace.device
        self._count = len(trace.arguments)
        self._slots: dict[Ref, int] = {}
        self._carriers: dict[Block, int] = {}
        self._trace = trace
        given = [ref.block for ref in trace.arguments if isinstance(ref, Ref)]
        given += [ref.block for ref in all_refs(trace) if ref.block.given is not None]
        self._known = set(given)
        self._steps = list(self._make_steps(self.engine.steps(trace, self._known)))
        self._real_steps = [
            GraphStep(step.real, step.real, step.slots) if isinstance(step, GraphStep) else step
            for step in self._steps
        ]
        results = tree_flatten(trace.output)[0]
        self.unread = {i for i, x in enumerate(results) if isinstance(x, Opaque) and x.unread}
        self._output = list(self._pick_results(results))
        self._repeated = list(trace.repeated.items())
        tail: list[Any] = [None] * (trace.slots - self._count)
        for slot, value in trace.constants.items():
            tail[slot - self._count] = value
        self._tail = tail
        self._calls = sum(len(region.calls) for region in self.regions)
        self._tiled_calls = tiled_calls(self.tilings)
        self._host_names = [host.name for host in self.hosts]

    def run(self, arguments: list[Any], sizes: tuple[int, ...] = ()) -> list[Any]:
        """Return the results for arguments with the layout of the trace.

        :param sizes: sizes of the scope's symbols.
        :raises RuntimeError: an operator failed; the message names it.
        """
        results = self.execute(arguments, sizes, self._real_steps)
        statistics.count_run(len(self.regions), self._calls, self._host_names, self._tiled_calls)
        return results

    def execute(
        self,
        arguments: list[Any],
        sizes: tuple[int, ...] = (),
        steps: Sequence[GraphStep | HostStep] | None = None,
    ) -> list[Any]:
        """Run like :meth:`run`, but do not count the run.

        :param steps: the steps of real runs; the steps of trial runs capture no graphs.
        """
        values = [*arguments, *self._tail, sizes]
        for step in self._steps if steps is None else steps:
            step(values)
        results = [pick(values) for pick in self._output]
        for place, earlier in self._repeated:
            results[place] = results[earlier]
        return results

    def doubtful(self) -> set[int]:
        """Return the arguments that its calls may write to although torch's graph does not."""
        written = {block.slot for region in self.regions for block in region.written}
        return {slot for slot in written if 0 <= slot < self._count} - self._written

    def _make_steps(self, steps: list[Lowered | Host]) -> Iterator[GraphStep | HostStep]:
        start = 0
        while start < len(steps):
            end = start
            while end < len(steps) and isinstance(steps[end], Lowered):
                if type(steps[end]) is not type(steps[start]):
                    break
                end += 1
            if end > start:
                yield self._graph(steps[start:end], steps[end:])
            else:
                step = steps[start]
                assert isinstance(step, Host)
                self.hosts.append(step)
                yield HostStep(step.target, self._tree((step.args, step.kwargs)), step.slots)
                end += 1
            start = end

    def _graph(
        self, lowered: Sequence[Lowered | Host], later: Sequence[Lowered | Host]
    ) -> GraphStep:
        calls = [call for step in lowered if isinstance(step, Lowered) for call in step.calls]
        shown, carried = uses_after(later, self._trace.output)
        made = {ref.block for call in calls for ref, _ in call.uses()} - self._known
        kept = [ref for ref in shown + carried if ref.block in made]
        try:
            region = build(calls, self._known, kept, self.scope)
            graph_of(region.verified(), region.text)
            graph = graph_of(region.runnable(), "run " + region.text)
        except DiopiError as error:
            fixed = not self.scope.ranges
            kind = RefusedCallError if fixed and learn(calls) else NotCompiledError
            raise kind(f"the graph was refused: {error}") from error
        places = {block: place for place, block in enumerate(region.made)}
        outputs: list[tuple[int, Any]] = []
        slots: list[int] = []
        for ref in dict.fromkeys(ref for ref in shown if ref.block in places):
            outputs.append((places[ref.block], self._packed(ref, elements(ref.offset, ref.dtype))))
            slots.append(self._trace.next_slot())
            self._slots[ref] = slots[-1]
        for block in dict.fromkeys(ref.block for ref in carried if ref.block in places):
            whole = Ref(block, "uint8", (block.size,), (1,), 0)
            outputs.append((places[block], self._packed(whole, 0)))
            slots.append(self._trace.next_slot())
            self._carriers[block] = slots[-1]
        inputs = [self._input(block, region) for block in region.inputs]
        contract = partial(
            _C.ContractProgram,
            graph.address,
            executor(self.engine.executor),
            self.device.index,
            GENERATOR if region.is_random else "",
            inputs,
            [packed(block.size, self._names) for block in region.made],
            outputs,
            len(self._names),
            [(name, self._names.index(name)) for name in graph.passed],
        )
        is_offered = isinstance(lowered[0], Offered)
        placed = PlacedGraph(
            len(self.regions), region, inputs, outputs, self.device, self._count, is_offered
        )
        plain = Kept(graph, self.device.index, contract)
        trial, real = self.engine.place(placed, plain)
        how = "contract" if is_offered else self.engine.executor
        self.regions.append(region)
        self.tilings.append(tiling_of(graph.graph, self.device, how, self.example))
        self._known |= set(region.made)
        return GraphStep(trial, real, slots)

    def _input(self, block: Block, region: Region) -> tuple[int, Any, bool]:
        written = block in region.written and block.slot in self._written
        if block.given is not None:
            # A program for many sizes also serves all storage offsets.
            offset = ANY_OFFSET if self._names else block.given.storage_offset
            return block.slot, self._packed(block.given, offset), written
        whole = Ref(block, "uint8", (block.size,), (1,), 0)
        return self._carriers[block], self._packed(whole, 0), written

    def _packed(self, ref: Ref, offset: Size) -> tuple[Any, ...]:
        """Convert a layout to dl-core's form."""
        dtype, sizes, strides, start = _layout(ref, offset)
        shape, steps = ([packed(x, self._names) for x in each] for each in (sizes, strides))
        return dtype, shape, steps, packed(start, self._names)

    def _tree(self, tree: Any) -> Pick:
        """Return a function that replaces the refs in a tree with the values of a run."""
        picks = tree_map(
            lambda x: self._pick(x) if isinstance(x, Ref | Opaque) else (lambda _, x=x: x), tree
        )

        def pick(values: Values) -> Any:
            return tree_map(lambda each: each(values), picks)

        return pick

    def _pick_results(self, results: Sequence[Any]) -> Iterator[Pick]:
        """Yield a function for each result. Results that look alike and share memory are separate
        objects, as in eager mode: a caller that resizes one leaves the other unchanged."""
        seen: set[Ref] = set()
        for place, wanted in enumerate(results):
            pick = self._result(wanted)
            made = isinstance(wanted, Ref) and wanted.block.given is None
            if made and place not in self._trace.repeated:
                pick = _another(pick) if wanted in seen else pick
                seen.add(wanted)
            yield pick

    def _result(self, wanted: Any) -> Pick:
        """Return a function for a result. Host constants are copied, because callers may mutate
        them.
        """
        constant = wanted.constant if isinstance(wanted, Opaque) and wanted.slot < 0 else None
        if isinstance(constant, torch.Tensor):
            return lambda _: constant.clone()
        return self._pick(wanted)

    def _pick(self, wanted: Any) -> Pick:
        if isinstance(wanted, Opaque):
            if wanted.slot < 0:
                if _varies(wanted.constant):
                    return self._number(wanted.constant)
                return lambda _, constant=wanted.constant: constant  # type: ignore[misc]
            return lambda values, slot=wanted.slot: values[slot]  # type: ignore[misc]
        if not isinstance(wanted, Ref):
            return self._number(wanted) if _varies(wanted) else lambda _: wanted
        given = wanted.block.given
        if 0 in wanted.shape:
            empty, steps = self._numbers(wanted.shape), self._numbers(wanted.strides)
            return lambda values: torch.empty_strided(
                empty(values), steps(values), dtype=DTYPE_OF[wanted.dtype], device=self.device
            )
        if given is None:
            slot = self._slots.get(wanted, -1)
            if slot < 0:
                raise NotCompiledError("a tensor is used that no operator has written")
            return lambda values: values[slot]
        slot = wanted.block.slot
        if wanted is given:
            return lambda values: values[slot]
        if wanted.dtype != given.dtype:
            raise NotCompiledError("a view with another dtype is used outside the graph")
        offset = self._number(elements(wanted.offset, wanted.dtype))
        shape, strides = self._numbers(wanted.shape), self._numbers(wanted.strides)
        return lambda values: torch.as_strided(
            values[slot],
            shape(values),
            strides(values),
            offset(values) + values[slot].storage_offset(),
        )

    def _numbers(self, sizes: Sequence[Size]) -> Pick:
        """Return a function that computes sizes in a run."""
        if not any(map(_varies, sizes)):
            return lambda _: sizes
        each = [self._number(size) for size in sizes]
        return lambda values: [size(values) for size in each]

    def _number(self, size: Size) -> Pick:
        """Return a function that computes a size in a run."""
        if isinstance(size, int):
            return lambda _: size
        return lambda values: evaluate(size.json, dict(zip(self._names, values[-1], strict=True)))


def _another(pick: Pick) -> Pick:
    """Return a function that creates another tensor object on the same memory."""
    return lambda values: pick(values).detach()


def _varies(value: object) -> bool:
    return isinstance(value, Expression)
