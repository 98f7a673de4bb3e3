"""Graph compiled by Inductor, with the default engine as a fallback if its results are wrong."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch.fx import GraphModule

from dl_core import _C
from dl_dicp.engines.inductor.host_graph import HostGraph
from dl_dicp.engines.inductor.reasons import NAME, DeclinedError, first_line, report_declined
from dl_dicp.program.agreement import copy_written, overlapping
from dl_dicp.program.rounding import first_difference
from dl_dicp.statistics import statistics

if TYPE_CHECKING:
    from dl_dicp.compiled import CompiledGraph
    from dl_dicp.options import Options


@dataclass
class SharedState:
    """State that the forward and the backward graph of one Dynamo graph share.

    :ivar dropped: why the default engine runs the forward graph; empty if Inductor does. The
        default engine's tensors may have other strides than Inductor's backward graph expects.
    """

    dropped: str = ""


_aten = torch.ops.aten
FROM_THE_START = (
    _aten.as_strided.default,
    _aten.as_strided_.default,
    _aten.as_strided_copy.default,
    _aten.as_strided_scatter.default,
)
"""Operators whose offset is relative to the storage. Inductor assumes that each argument starts at
offset 0 of its storage."""


class InductorGraph:
    """Callable that AOTAutograd gets for a graph; it takes a list of arguments.

    The first call also runs eagerly, and the results are compared.

    :ivar instead: the default engine's graph, which represents this graph in reports.
    """

    def __init__(
        self, module: GraphModule, kind: str, options: Options, shared: SharedState
    ) -> None:
        from dl_dicp.compiled import CompiledGraph

        self._boxed_call = True  # on the instance, because Dynamo's wrapper copies it from there
        default = dataclasses.replace(options, engine="tiled")
        self.instead: CompiledGraph = CompiledGraph(module, kind, default)
        self._module = module
        self._counts = any(node.target in FROM_THE_START for node in module.graph.nodes)
        self._shared = shared
        self._checks = options.check
        self._lock = threading.RLock()
        self._call: Any = None
        self._device = torch.device("cpu")
        self._written: set[int] = set()
        # If sizes vary, the graph is compared at two tuples of sizes. `_first` is the first one.
        self._varies = False
        self._first: tuple[Any, ...] | None = None
        self._trusted = False

    def run_by(self, compiled: Callable[..., Any], host: HostGraph, device: torch.device) -> None:
        """Use Inductor's compiled function."""
        kept = [*host.constants, *(getattr(compiled, "constants", None) or {}).values()]
        kept = [each for each in kept if isinstance(each, torch.Tensor)]
        self._call = _C.HostCall(
            device.index, lambda given: list(compiled(given)), host.written, host.on_device, kept
        )
        self._device = device
        self._written = {place for place, written in enumerate(host.written) if written}
        self._varies = host.varies
        self._trusted = not self._checks
        self._tell("not compared with eager mode" if self._trusted else "not run yet")

    def drop(self, reason: DeclinedError) -> None:
        """Use the default engine for this graph from now on."""
        self._call = None
        if self.instead.kind == "forward":
            self._shared.dropped = f"Inductor does not run its forward graph: {reason}"
        self.instead.remarks[:] = [report_declined(reason)]

    def __call__(self, arguments: list[Any]) -> list[Any]:
        """Return the results as a list.

        :raises RuntimeError: an operator failed.
        """
        call = self._call
        # Without Inductor's forward graph, strides may differ from those that the backward graph
        # expects.
        if call is None or self._shared.dropped or (self._counts and _begin_later(arguments)):
            return list(self.instead(arguments))
        if not self._trusted:
            sizes = _sizes(arguments)
            if sizes != self._first:
                with self._lock:
                    waiting = not self._trusted and sizes != self._first
                    if waiting and self._call is not None:
                        return self._trial(arguments, sizes)
                return self(arguments)
        try:
            results: list[Any] | None = call.run(arguments)
        except Exception as error:
            if self._written:
                raise  # it is unknown which arguments have been written
            return self._instead_of(arguments, error)
        if results is None:  # arguments that share memory are written to
            return list(self.instead(arguments))
        statistics.count_engine_run(NAME)
        return results

    def _trial(self, arguments: list[Any], sizes: tuple[Any, ...]) -> list[Any]:
        """Run the device's operators, then Inductor's function, and compare the results."""
        if self._written & overlapping(arguments, self._device):
            return list(self.instead(arguments))
        before = copy_written(arguments, self._written, self._device)
        with torch.no_grad():
            wanted = list(self._module(*arguments))
        try:
            made = self._call.run(before)
        except Exception as error:  # noqa: BLE001 - the eager results are valid in any case
            self.drop(DeclinedError(f"it failed: {first_line(error)}", is_fault=True))
            return wanted
        with torch.no_grad():
            wrong = first_difference(
                self._module, arguments, [*made, *before], [*wanted, *arguments]
            )
        if wrong is not None:
            why = f"value {wrong} of its graph differs from that of the eager run"
            self.drop(DeclinedError(why, is_fault=True))
            return wanted
        statistics.count(compiled=self._first is None)
        statistics.count_engine_run(NAME)
        self._trusted = not self._varies or self._first is not None
        self._first = sizes
        self._tell("which agreed with eager mode")
        # The backward graph was compiled for the strides of Inductor's results.
        copies = {before[place].untyped_storage().data_ptr() for place in self._written}
        return [b if _lies_in(a, copies) else a for a, b in zip(made, wanted, strict=True)]

    def _instead_of(self, arguments: list[Any], error: Exception) -> list[Any]:
        """Run eagerly after a compiled run has failed. If the arguments were invalid, the eager run
        raises the error; otherwise the compiled graph was wrong."""
        with torch.no_grad():
            results = list(self._module(*arguments))
        statistics.count_eager(f"the graph engine {NAME} failed: {first_line(error)}")
        self.drop(DeclinedError(f"it failed: {first_line(error)}", is_fault=True))
        return results

    def _tell(self, state: str) -> None:
        self.instead.remarks[:] = [f"graph engine {NAME} {torch.__version__}, {state}"]


def _begin_later(arguments: Sequence[Any]) -> bool:
    """Return True if any tensor has a nonzero storage offset."""
    return any(isinstance(a, torch.Tensor) and a.storage_offset() for a in arguments)


def _sizes(arguments: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(tuple(a.shape) if isinstance(a, torch.Tensor) else a for a in arguments)


def _lies_in(value: Any, storages: set[int]) -> bool:
    return isinstance(value, torch.Tensor) and value.untyped_storage().data_ptr() in storages
