"""Graph that an engine runs, checked against the executor's contract program."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import torch

from dl_dicp.engines.compiled_code import CompiledCode
from dl_dicp.engines.engine import Layout, PlacedGraph
from dl_dicp.engines.interface import GraphEngine, Runner
from dl_dicp.program.agreement import STEPS, agree, replica
from dl_dicp.program.packing import unpacked
from dl_dicp.recording.memory import DTYPE_OF
from dl_dicp.statistics import statistics
from dl_graph.expression import as_json, evaluate


@dataclass
class Memory:
    """Inputs and outputs of an engine's graph.

    :ivar places: in the order of the runner's addresses: the slot of an input, or -1 minus the
        index of a block that the graph creates.
    :ivar written: slots of inputs that its calls write to: arguments, and results of other steps.
    :ivar sizes: sizes in bytes of the blocks that it creates.
    :ivar outputs: the tensors that it returns: index of a block that it creates, and layout there.
    """

    places: list[int]
    written: list[int]
    sizes: list[int]
    outputs: list[tuple[int, Layout]]


def places_of(document: Mapping[str, Any], inputs: list[int]) -> list[int]:
    """Return :attr:`Memory.places` of a graph, given the slots of its inputs."""
    places, taken, made = [], iter(inputs), 0
    for storage in document["entries"]["main"]["storages"]:
        if storage["kind"] == "input":
            places.append(next(taken))
        elif storage["kind"] == "output":
            made += 1
            places.append(-made)
    return places


def memory_of(graph: PlacedGraph, sizes: tuple[int, ...] = ()) -> Memory:
    """Return the inputs and outputs of a graph.

    :param sizes: sizes of the graph's symbols, in their order.
    """
    region = graph.region
    entry = region.document["entries"]["main"]
    names = [symbol["name"] for symbol in entry["symbols"]]
    known = dict(zip(names, sizes, strict=True))
    return Memory(
        places_of(region.document, [slot for slot, _, _ in graph.inputs]),
        # Blocks that other steps created may be written as well; torch's graph knows only
        # about arguments.
        [
            slot
            for (slot, _, writes), block in zip(graph.inputs, region.inputs, strict=True)
            if writes or block in region.written
        ],
        [evaluate(as_json(block.size), known) for block in region.made],
        [(at, _at_sizes(layout, sizes)) for at, layout in graph.outputs],
    )


def _at_sizes(layout: Layout, sizes: tuple[int, ...]) -> Layout:
    dtype, shape, strides, offset = layout
    shape, strides = (tuple(unpacked(x, sizes) for x in each) for each in (shape, strides))
    return dtype, shape, strides, unpacked(offset, sizes)


@dataclass
class EngineProgram:
    """Program that runs the contract program until the engine's results have agreed with it.

    :ivar sizes: sizes of the symbols of the contract program, which may serve many sizes.
    :ivar dropped: why the engine is no longer used; empty if it is in use.
    :ivar agreed: whether a trial run agreed with the contract program.
    """

    name: str
    engine: GraphEngine
    document: Mapping[str, Any]
    contract: Any
    memory: Memory
    device: torch.device
    sizes: tuple[int, ...] = ()
    dropped: str = ""
    agreed: bool = False
    _runner: Runner | None = None
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def __post_init__(self) -> None:
        self._code = CompiledCode(self.name, self.engine, self.document)

    def line(self) -> str:
        """Return a line about the graph for reports."""
        name = f"graph engine {self.name} {self.engine.version}"
        if self.dropped:
            return f"{name} was dropped, and the executor runs it: {self.dropped}"
        return f"{name}, {self.state}"

    @property
    def state(self) -> str:
        """Return the state of the graph, for reports."""
        return "which agreed with the executor" if self.agreed else "not run yet"

    def trust(self) -> None:
        """Skip the trial run, because the engine's code has agreed with the executor before."""
        with self._lock:
            try:
                self._runner = self.engine.load(self._code.get())
                self.agreed = True
            except Exception as error:  # noqa: BLE001 - the graph must run even if a plugin fails
                self._drop(f"{type(error).__name__}: {error}")

    def run(self, values: list[Any], sizes: tuple[int, ...] = ()) -> list[torch.Tensor]:
        """Return the new tensors of the graph, for :attr:`sizes`.

        :raises RuntimeError: the engine failed and may have written to an argument.
        """
        if not (self.agreed or self.dropped):
            with self._lock:
                if not (self.agreed or self.dropped):
                    return self._trial(values)
        return self._whole(values) if self.dropped else self._trusted(values)

    def _whole(self, values: list[Any]) -> list[torch.Tensor]:
        return list(self.contract.run(values, self.sizes))

    def _trusted(self, values: list[Any]) -> list[torch.Tensor]:
        try:
            made = self._by_engine(values)
        except Exception as error:
            self._drop(f"it failed: {type(error).__name__}: {error}")
            if self.memory.written:
                raise RuntimeError(
                    f"[dl] the graph engine {self.name} failed while running a graph that writes to"
                    f" its arguments, which may be partially written: {error}. Later calls run "
                    "without the engine."
                ) from error
            return self._whole(values)
        statistics.count_engine_run(self.name)
        return made

    def _trial(self, values: list[Any]) -> list[torch.Tensor]:
        """Run the engine on copies, then the contract program, and compare the results."""
        tried = list(values)
        for slot in self.memory.written:
            tried[slot] = replica(values[slot])
        try:
            if self._runner is None:
                self._runner = self.engine.load(self._code.get())
            made = self._by_engine(tried, noise=True)
        except Exception as error:  # noqa: BLE001 - the graph must run even if a plugin fails
            self._drop(f"{type(error).__name__}: {error}")
            return self._whole(values)
        wanted = self._whole(values)
        pairs = list(zip(made, wanted, strict=True))
        pairs += [(tried[slot], values[slot]) for slot in self.memory.written]
        outputs = zip(self.memory.outputs, made, strict=True)
        kinds = [self._kind("output", at, value) for (at, _), value in outputs]
        inputs = [slot for slot in self.memory.places if slot >= 0]
        kinds += [self._kind("input", inputs.index(x), tried[x]) for x in self.memory.written]
        pairs = [(a.view(k), b.view(k)) for (a, b), k in zip(pairs, kinds, strict=True)]
        wrong = [
            place
            for place, (a, b) in enumerate(pairs)
            if not (agree(a, b) or self._is_near(place, a, b, wanted))
        ]
        if wrong:
            self._drop(f"value {wrong[0]} of its graph differs from that of the contract program")
        self.agreed = not wrong
        return wanted

    def _is_near(
        self, place: int, made: torch.Tensor, wanted: torch.Tensor, all_wanted: list[torch.Tensor]
    ) -> bool:
        """Return True if a difference is within the rounding error of a mean.

        The elements of a mean may cancel, so its error scales with their standard deviation. A norm
        saves the inverse of the standard deviation in another result.
        """
        saved = self._deviations.get(place)
        if saved is None or made.dtype != wanted.dtype:
            return False
        deviation = 1 / all_wanted[saved].detach().cpu().float()
        size = float(deviation[torch.isfinite(deviation)].max())
        allowed = STEPS * torch.finfo(wanted.dtype).eps * size
        return torch.allclose(made.cpu(), wanted.cpu(), rtol=0, atol=allowed)

    @cached_property
    def _deviations(self) -> dict[int, int]:
        """Return the results that are means of norms, each with the result that holds the inverse
        standard deviation."""
        entry = self.document["entries"]["main"]
        storages = [n for n, each in enumerate(entry["storages"]) if each["kind"] == "output"]
        placed = {storages[at]: place for place, (at, _) in enumerate(self.memory.outputs)}
        found = {}
        for _, arguments in entry["calls"]:
            if "save_mean" in arguments and "save_invstd" in arguments:
                mean, deviation = (
                    placed.get(entry["values"][arguments[name]]["storage"])
                    for name in ("save_mean", "save_invstd")
                )
                if mean is not None and deviation is not None:
                    found[mean] = deviation
        return found

    def _kind(self, kind: str, at: int, value: torch.Tensor) -> torch.dtype:
        """Return the dtype in which an input or output is compared; uint8 for internal values."""
        if value.dtype != torch.uint8 or value.stride() != (1,):
            return value.dtype
        entry = self.document["entries"]["main"]
        storages = [n for n, each in enumerate(entry["storages"]) if each["kind"] == kind]
        kinds = {DTYPE_OF[x["dtype"]] for x in entry["values"] if x["storage"] == storages[at]}
        floats = {x for x in kinds if x.is_floating_point and len(value) % x.itemsize == 0}
        return floats.pop() if len(floats) == 1 else value.dtype

    def _by_engine(self, values: list[Any], *, noise: bool = False) -> list[torch.Tensor]:
        """Run the engine; return the new tensors.

        :param noise: whether to fill the memory first, which may hold the results of the previous
            run, so that an element that the engine does not write is noticed."""
        assert self._runner is not None
        blocks = [
            torch.empty(size, dtype=torch.uint8, device=self.device) for size in self.memory.sizes
        ]
        if noise:
            for block in blocks:
                block.fill_(0xFF)
        addresses = [
            (values[at] if at >= 0 else blocks[-1 - at]).data_ptr() for at in self.memory.places
        ]
        self._runner(addresses, _stream(self.device))
        return [_tensor(blocks[at], layout) for at, layout in self.memory.outputs]

    def _drop(self, why: str) -> None:
        self.dropped = why
        self._code.forget()
        statistics.count_dropped(self.name, why)
        warn_dropped(self.name, why)


def warn_dropped(name: str, why: str) -> None:
    """Warn that an engine cannot run a graph."""
    warnings.warn(
        f"[dl] the graph engine {name} cannot run this graph: {why}. The contract's executor runs "
        'the graph instead; to select it without this warning, pass options={"engine": "tiled"}.',
        RuntimeWarning,
        stacklevel=2,
    )


def _stream(device: torch.device) -> int:
    """Return the vendor's handle of the current stream."""
    stream: Any = torch.accelerator.current_stream(device)  # torch does not declare the attribute
    return int(stream.native_handle or 0)


def _tensor(block: torch.Tensor, layout: Layout) -> torch.Tensor:
    """Return a tensor on a block's memory that is not a view for autograd."""
    dtype, shape, strides, offset = layout
    made = torch.empty(0, dtype=dtype, device=block.device)
    return made.set_(block.untyped_storage(), offset, shape, strides)
