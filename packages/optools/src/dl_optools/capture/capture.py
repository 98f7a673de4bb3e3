"""Captures calls of operators as bundles: arguments before the call, results, gradients."""

from __future__ import annotations

import functools
import sys
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TextIO

import torch
from torch.utils.checkpoint import _StopRecomputationError
from typing_extensions import Unpack

from dl_optools import levels
from dl_optools.attribution import Attribution
from dl_optools.backward_graph import Gradients, GradientWatch
from dl_optools.bundle.document import Document, GradientsRecord, Result
from dl_optools.bundle.draft import Addition, Draft
from dl_optools.bundle.errors import NotStorableError
from dl_optools.bundle.origin import context_of, program_of, schema_of, software
from dl_optools.bundle.snapshot import Snapshot
from dl_optools.bundle.values import Table, encode
from dl_optools.call import OpCall
from dl_optools.capture.limits import Limits, limits_of
from dl_optools.capture.writer import BundleWriter, OnBundle, WriterStatistics
from dl_optools.environment import environment
from dl_optools.modules import MODULE_PATH
from dl_optools.names import Level
from dl_optools.operators import is_known
from dl_optools.outputs import results_directory, run_stamp, unused_path
from dl_optools.stacks import program_stack
from dl_optools.tool import Tool, ToolOptions


class OpCapture(Tool):
    """Writes each call of the selected operators as a bundle, which ``dl replay`` runs anywhere.

    The directory is ``op_tools_results/op_capture_results/pid<pid>_<time>``. It contains
    ``<operator>/<number of the call>/bundle.json`` and, in ``store``, the tensors, each distinct
    content once. At the API level the gradients of all results and inputs are captured with the
    call, from the first backward pass through it while the tool runs.

    Variables: ``OP_CAPTURE_LIST``, ``OP_CAPTURE_DISABLE_LIST``; ``OP_CAPTURE_MEMORY`` and
    ``OP_CAPTURE_DISK`` (bytes, also ``500M``, ``2G``), ``OP_CAPTURE_WHEN_FULL`` (``wait`` or
    ``drop``).

    :param directory: output directory, which no other capture has used (default: as above).
    :param limits: limits that override the variables.
    :param stream: receives the final summary of what was written and dropped (default: stderr).
    :param on_bundle: see :class:`.BundleWriter`.
    :param options: options of :class:`Tool`.
    """

    variable = "CAPTURE"
    observes = True

    def __init__(
        self,
        *,
        directory: Path | str | None = None,
        limits: Limits | None = None,
        stream: TextIO | None = None,
        on_bundle: OnBundle | None = None,
        **options: Unpack[ToolOptions],
    ) -> None:
        super().__init__(**options)
        self._directory = None if directory is None else Path(directory)
        self._limits = limits or limits_of(environment())
        self._stream = stream
        self._on_bundle = on_bundle
        self._writer: BundleWriter | None = None
        self._watches: weakref.WeakSet[GradientWatch] = weakref.WeakSet()
        self._attribution = Attribution(device=None)
        self.results: WriterStatistics | None = None
        """Summary of what was written: complete once the tool has stopped."""

    def wants(self, name: str, function: Callable[..., Any]) -> bool:
        return super().wants(name, function) and is_known(name, self.level)

    def opened(self) -> None:
        directory = results_directory("op_capture_results", self._directory)
        if self._directory is None:
            directory = unused_path(directory / run_stamp())
        self._writer = BundleWriter(directory, self._limits, on_bundle=self._on_bundle)
        self.results = self._writer.written
        MODULE_PATH.open()
        if self.level is Level.DISPATCH:
            self._attribution.prepare()
            levels.add(self._attribution, Level.API)

    def closed(self) -> None:
        if self.level is Level.DISPATCH:
            levels.remove(self._attribution, Level.API)
            self._attribution.closed()
        MODULE_PATH.close()
        for watch in list(self._watches):
            watch.detach()
        self._watches.clear()
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.close()
            self.losses += writer.losses
            self.left_out += writer.omissions
            (self._stream or sys.stderr).write(f"[OpCapture] {writer.written}\n")

    def flush(self) -> None:
        """Wait until all calls up to now are on disk."""
        if self._writer is not None:
            self._writer.flush()

    def handle(self, call: OpCall) -> Any:
        writer = self._writer
        if writer is None:
            return call.proceed()
        try:
            taken = _Call(self, writer, call)
        except NotStorableError as error:
            writer.drop(f"{call.name}: {error}")
            return call.proceed()
        try:
            result = call.proceed()
        except Exception as error:
            # Activation checkpointing ends a recomputation early: not a failure of the operator.
            if not isinstance(error, _StopRecomputationError):
                taken.failed(error)
            raise
        try:
            watch = taken.returned(result)
        except NotStorableError as error:
            writer.drop(f"{call.name}: result: {error}")
        else:
            if watch is not None:
                self._watches.add(watch)
        return result


class _Call:
    """One call while it is captured.

    :raises NotStorableError: torch does not list the operator by name, or a bundle cannot store an
    argument.
    """

    def __init__(self, tool: OpCapture, writer: BundleWriter, call: OpCall) -> None:
        if not is_known(call.name, call.level):
            raise NotStorableError("torch does not list this operator by name")
        assert tool.device is not None
        self.writer, self.device = writer, tool.device
        table = self.table = Table()
        args, kwargs = encode(tuple(call.args), table), encode(dict(call.kwargs), table)
        with torch.no_grad():
            self.before = Snapshot(table.tensors)
        self.draft = Draft(
            writer.directory / call.name / f"{call.number:06d}",
            Document(
                operator=call.name,
                level=call.level,
                schema=schema_of(call.function),
                args=args,
                kwargs=kwargs,
                inputs=tuple(table.position(x) or 0 for x in table.own),
                device=tool.device,
                context=context_of(tool.device, call.level),
                program=program_of(
                    call.number,
                    call.module or ("" if call.backward else MODULE_PATH.current()),
                    None if call.parent is None else call.parent.name,
                    call.backward,
                    program_stack(),
                ),
                software=software(),
            ),
        )
        self.addition = Addition(self.draft)
        self.addition.add(self.before, range(len(table.tensors)))
        self.states = _random_states(tool.device)
        # Below autograd there are no gradients: the backward pass consists of separate calls.
        self.watch = (
            GradientWatch(table.own, functools.partial(_submit_gradients, writer, self.draft))
            if call.level is Level.API
            else None
        )

    def failed(self, error: Exception) -> None:
        """Submit a bundle of the arguments of a call that raised."""
        text = f"{type(error).__name__}: {error}"
        self.addition.changes = {"error": text, "rng": self._find_advanced_generators()}
        self.writer.submit(self.addition)

    def returned(self, result: Any) -> GradientWatch | None:
        """Submit the completed call; return the watch of its backward pass."""
        inputs, addition = self.table.own, self.addition
        after = Table(self.draft.tensor_count)
        described = encode(result, after)
        returned = len(after.tensors)
        for tensor in inputs:
            after.add(tensor)
        with torch.no_grad():
            snapshot = Snapshot(after.tensors)
        written = [
            position
            for position, tensor in enumerate(after.tensors[returned:], returned)
            if not self.before.same(self.table.position(tensor) or 0, snapshot, position)
        ]
        kept = [*range(returned), *written]
        start = addition.add(snapshot, kept)
        tensors = [after.tensors[position] for position in kept]
        addition.changes = {
            "result": described,
            "results": tuple(_result(start + at, x, inputs) for at, x in enumerate(tensors)),
            "returned": returned,
            "rng": self._find_advanced_generators(),
        }
        if not self.writer.submit(addition) or self.watch is None:
            return None
        return self.watch if self.watch.attach(tensors) else None

    def _find_advanced_generators(self) -> dict[str, int]:
        """Return table indices of the states of the generators that the call advanced."""
        now = _random_states(self.device)
        moved = [name for name, state in self.states.items() if not now[name].equal(state)]
        with torch.no_grad():
            snapshot = Snapshot([self.states[name] for name in moved])
        start = self.addition.add(snapshot, range(len(moved)))
        return {name: start + at for at, name in enumerate(moved)}


def _result(index: int, tensor: torch.Tensor, inputs: Sequence[torch.Tensor]) -> Result:
    same = next((at for at, x in enumerate(inputs) if x is tensor), None)
    place = _storage_of(tensor)
    shares = next(
        (at for at, x in enumerate(inputs) if place is not None and _storage_of(x) == place), None
    )
    return Result(index, same, shares)


def _storage_of(tensor: torch.Tensor) -> int | None:
    return tensor.untyped_storage()._cdata if tensor.layout == torch.strided else None


def _submit_gradients(writer: BundleWriter, draft: Draft, gradients: Gradients) -> None:
    """Submit the gradients of the first backward pass."""
    if draft.has_gradients or draft.dropped:
        return
    draft.has_gradients = True
    addition, table = Addition(draft), Table(draft.tensor_count)
    try:
        record = GradientsRecord(
            *(
                tuple(None if x is None else table.add(x) for x in side)
                for side in (gradients.outputs, gradients.inputs)
            )
        )
        with torch.no_grad():
            addition.add(Snapshot(table.tensors), range(len(table.tensors)))
    except NotStorableError as error:
        writer.drop(f"gradients of {draft.document.operator}: {error}")
        return
    addition.changes = {"gradients": record}
    writer.submit(addition)


def _random_states(device: str) -> dict[str, torch.Tensor]:
    """Return the states of the default generators, by device."""
    states = {"cpu": torch.get_rng_state()}
    module = None if device == "cpu" else torch.get_device_module(device)
    if module is not None and hasattr(module, "get_rng_state"):
        name = f"{device}:{module.current_device()}"
        states[name] = module.get_rng_state(name)
    return states
