"""Graph with frozen weights: one part runs when the weights change, the other in each call."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import GraphModule

from dl_dicp.compiled import CompiledGraph, is_dl
from dl_dicp.folding.fixed import frozen_places
from dl_dicp.folding.split import Split, split
from dl_dicp.options import Options
from dl_dicp.program.agreement import copy_written, find_written_arguments, overlapping
from dl_dicp.program.rounding import first_difference
from dl_dicp.program.snapshot import Snapshot, state_of
from dl_dicp.recording.generators import generators_as_they_are


def compile_graph(
    module: GraphModule, kind: str, options: Options, remarks: list[str]
) -> CompiledGraph | FoldedGraph:
    """Compile a graph, in two parts if it has values that depend only on frozen weights."""
    written = find_written_arguments(module)
    if options.frozen and kind == "inference" and written is not None:
        parts = split(module, frozen_places(module, written))
        if parts is not None:
            return FoldedGraph(module, parts, written, options, remarks)
    return CompiledGraph(module, kind, options, remarks=remarks)


@dataclass(frozen=True)
class _Known:
    """Folded values.

    :ivar snapshot: snapshot of the weights on which they depend; None if nothing is cached.
    :ivar values: the values; None if the graph runs without folding.
    """

    snapshot: Snapshot | None = None
    values: list[Any] | None = None


class FoldedGraph:
    """Callable like :class:`CompiledGraph`; it takes a list of arguments.

    Writes to a weight through torch, and replaced weights, are noticed before the next call, which
    computes the dependent values again. The values are freed when a weight is deleted.
    """

    _boxed_call = True

    def __init__(
        self,
        module: GraphModule,
        parts: Split,
        written: set[int],
        options: Options,
        remarks: list[str],
    ) -> None:
        self._module = module
        self._parts = parts
        self._written = written
        self._options = options
        self._remarks = remarks
        self._lock = threading.RLock()
        self._known: _Known | None = None
        self._is_checked = False
        # The second part; None if the two parts gave wrong results.
        self._rest: CompiledGraph | None = None
        self._whole: CompiledGraph | None = (
            None  # for the whole graph, if the two parts cannot be used
        )

    def __call__(self, arguments: list[Any]) -> Any:
        """Return the results as a list.

        :raises RuntimeError: an operator failed; the message names it.
        """
        if not self._is_checked:
            with self._lock:
                if not self._is_checked:
                    self._begin(arguments)
        known = _Known() if self._rest is None else self._values_of(arguments)
        if self._rest is None or known.values is None:
            return self._whole_graph()(arguments)
        return self._rest([*(arguments[place] for place in self._parts.kept), *known.values])

    def _values_of(self, arguments: Sequence[Any]) -> _Known:
        """Return the values that depend only on the current weights."""
        weights = [arguments[place] for place in self._parts.sources]
        state = state_of(weights)
        known = self._known
        if known is not None and known.snapshot is not None and known.snapshot.state == state:
            return known
        if state is None:
            return _Known()
        with self._lock, torch.no_grad():
            self._known = None
            snapshot = Snapshot(weights, state, self._drop)
            values = [_as_weight(value) for value in self._parts.once(*weights)]
            finite = all(bool(values[i].isfinite().all()) for i in self._parts.of_norms)
            known = self._known = _Known(snapshot, values if finite else None)
        return known

    def _begin(self, arguments: list[Any]) -> None:
        """Compile the graph: in two parts, if their results agree with those of the whole graph."""
        parts = self._parts
        place = self._difference(arguments) if self._options.check and parts.norms else None
        if place is None:
            told = f"frozen weights: {parts.values} values are computed once"
            if parts.norms:
                told += f", {parts.norms} batch norms are part of convolutions"
            self._rest = self._compiled(parts.rest, told)
        else:
            self._known = None
            told = f"frozen weights: nothing is computed once, because value {place} differed"
            self._whole = self._compiled(self._module, told)
        self._is_checked = True

    def _whole_graph(self) -> CompiledGraph:
        with self._lock:
            if self._whole is None:
                told = "frozen weights: used for weights from which nothing can be computed once"
                self._whole = self._compiled(self._module, told)
            return self._whole

    def _compiled(self, module: GraphModule, told: str) -> CompiledGraph:
        remarks = [*self._remarks, told]
        return CompiledGraph(module, "inference", self._options, remarks=remarks)

    def _difference(self, arguments: list[Any]) -> int | None:
        """Return the index of the first result in which the two parts differ from the original
        graph.
        """
        device = next((each.device for each in arguments if is_dl(each)), None)
        if device is None or (self._written and overlapping(arguments, device)):
            return None
        with torch.no_grad(), generators_as_they_are(device) as rewind:
            runs = []
            for run in (self._in_parts, self._module):
                given = copy_written(arguments, self._written, device)
                runs.append([*run(*given), *given])
                rewind()
            spare = copy_written(arguments, self._written, device)
            return first_difference(self._module, spare, *runs)

    def _in_parts(self, *arguments: Any) -> list[Any]:
        """Run both parts eagerly and return the results."""
        values = self._values_of(arguments).values
        if values is None:
            return list(self._module(*arguments))
        kept = (arguments[place] for place in self._parts.kept)
        return list(self._parts.rest(*kept, *values))

    def _drop(self) -> None:
        """Drop the folded values when a weight is deleted."""
        self._known = None


def _as_weight(value: torch.Tensor) -> torch.Tensor:
    """Return the folded values as constants that the vendor may prepack."""
    if not value.is_floating_point():
        return value
    return torch.nn.Parameter(value, requires_grad=False)
