"""The device graphs of a contract graph for one tuple of sizes on one stream.

They share the memory of temporaries and of copied inputs: replays on one stream run one after the
other.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from dl_dicp.engines.device_graph.copies import Outputs, Slot, write
from dl_dicp.engines.device_graph.input_stability import InputStability
from dl_dicp.engines.device_graph.recording import record_graph
from dl_dicp.program.agreement import agree, overlapping, replica
from dl_dicp.statistics import statistics

MOST_ADDRESSES = 32
"""Maximum number of device graphs for inputs at different addresses, for example when layers share
a graph.
"""

Values = list[Any]


@dataclass(frozen=True)
class Ports:
    """Inputs of a contract graph, identified by slots of a run's values.

    :ivar inputs: slots of all inputs.
    :ivar written: slots of inputs that the graph writes.
    """

    inputs: Sequence[int]
    written: frozenset[int]


@dataclass
class DeviceGraph:
    """Captured run. The graph is released first, because its memory must outlive it.

    :ivar held: the inputs that it reads in place.
    """

    graph: Any
    outputs: Outputs
    held: list[Tensor]


class Replays:
    """Device graphs of one contract graph for one tuple of sizes and one stream.

    :param program: the executor's program, which runs the graph or enqueues it in a capture.
    :param check: whether the first replay is compared with an executor run.
    :ivar graphs: device graphs by the addresses of the inputs that they read in place.
    :ivar slots: memory of the inputs that are copied, by slot.
    :ivar count: number of replays.
    :ivar full: reason why some runs are not captured, if the limit of addresses was reached; else
        empty.
    :ivar problem: why the executor has to run the contract graph from now on; empty if it need not.
    """

    def __init__(
        self,
        program: Any,
        ports: Ports,
        sizes: tuple[int, ...],
        device: torch.device,
        check: bool,
    ) -> None:
        self.graphs: dict[tuple[int, ...], DeviceGraph] = {}
        self.slots: dict[int, Slot] = {}
        self.count = 0
        self.full = ""
        self.problem = ""
        self._program = program
        self._ports = ports
        self._sizes = sizes
        self._device = device
        self._check = check
        self._stability = InputStability()
        self._staying = list(ports.inputs)
        self._lock = threading.Lock()

    def run(self, values: Values) -> list[Tensor] | None:
        """Return the new tensors of the graph. Return None, without having written anything, if the
        executor has to do this run.

        :raises RuntimeError: a replay that writes to its inputs failed.
        """
        with self._lock, torch.no_grad():
            if self.problem:
                return None
            found = self.graphs.get(self._addresses(values))
            if found is not None:
                return self._replayed(found, values)
            if not self._stability.observe(values, self._staying):
                return None
            self._let_go()
            if len(self.graphs) >= MOST_ADDRESSES:
                self.full = f"there are inputs at more than {MOST_ADDRESSES} addresses"
                return None
            with torch.inference_mode(False):
                return self._first(values)

    def _addresses(self, values: Values) -> tuple[int, ...]:
        return tuple([values[slot].data_ptr() for slot in self._staying])

    def _let_go(self) -> None:
        """Drop graphs that read an input in place that is copied from now on."""
        transient = self._stability.transient
        if not transient.isdisjoint(self._staying):
            self.graphs.clear()
            self._staying = [slot for slot in self._staying if slot not in transient]

    def _first(self, values: Values) -> list[Tensor] | None:
        """Capture the graph, and replay it for the first time."""
        try:
            captured, wanted, tried = self._captured(values)
        except Exception as error:  # noqa: BLE001 - the graph must run whatever a vendor refuses
            self.problem = f"it cannot be captured: {_first_line(error)}"
            return None
        statistics.count_capture("inputs elsewhere" if self.graphs else "new sizes")
        found = self._replayed(captured, values)
        if found is None:
            return None
        if wanted is not None and self._differs([*zip(found, wanted, strict=True)], values, tried):
            return wanted
        self.graphs[self._addresses(values)] = captured
        return found

    def _captured(self, values: Values) -> tuple[DeviceGraph, list[Tensor] | None, Values]:
        """Capture the graph. Return the capture, the results of the executor (None if replays are
        not checked), and the inputs of that run, with copies of those that it writes.

        :raises Exception: the graph cannot be captured.
        """
        ports = self._ports
        if ports.written and overlapping([values[slot] for slot in ports.inputs], self._device):
            raise ValueError("inputs share memory, and one is written")
        for slot in self._stability.transient - self.slots.keys():
            self.slots[slot] = Slot(values[slot])
        given = list(values)
        for slot, memory in self.slots.items():
            memory.fill(values[slot])
            given[slot] = memory.tensor
        tried, wanted = list(given), None
        if self._check:
            for slot in ports.written:
                tried[slot] = replica(given[slot])
            wanted = list(self._program.run(tried, self._sizes))
        pool = next((each.graph.pool() for each in self.graphs.values()), None)
        graph, made = record_graph(
            self._device, lambda: self._program.run(given, self._sizes), pool
        )
        held = [values[slot].detach() for slot in self._staying]
        return DeviceGraph(graph, Outputs(made), held), wanted, tried

    def _differs(self, pairs: list[tuple[Any, Any]], values: Values, tried: Values) -> bool:
        """Return True if the first replay differs from the executor run; restore the inputs that
        the replay wrote."""
        pairs += [(values[slot], tried[slot]) for slot in self._ports.written]
        wrong = [place for place, (a, b) in enumerate(pairs) if not agree(a, b)]
        if not wrong:
            return False
        self.problem = f"value {wrong[0]} of its replay differs from that of the executor"
        for slot in self._ports.written:
            write(values[slot], tried[slot])
        return True

    def _replayed(self, found: DeviceGraph, values: Values) -> list[Tensor] | None:
        for slot, memory in self.slots.items():
            memory.fill(values[slot])
        results = found.outputs.memory()
        try:
            found.graph.replay()
        except Exception as error:
            self.problem = f"a replay failed: {_first_line(error)}"
            if not self._ports.written:
                return None
            raise RuntimeError(
                "[dl] the replay of a captured graph failed and may have written a part of its "
                f"inputs: {error}. Later calls run the graph in the executor."
            ) from error
        self.count += 1
        made = found.outputs.copied(results)
        for slot in self._ports.written & self.slots.keys():
            write(values[slot], self.slots[slot].tensor)
        return made


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
