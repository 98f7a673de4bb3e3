"""Bundles of calls that autocompare found wrong: the first one of each operator."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch.utils._pytree import tree_map

from dl_optools.bundle.document import Document, GradientsRecord, Result
from dl_optools.bundle.draft import Addition, Draft
from dl_optools.bundle.errors import NotStorableError
from dl_optools.bundle.origin import program_of, schema_of, software
from dl_optools.bundle.snapshot import Snapshot
from dl_optools.bundle.values import Table, encode
from dl_optools.capture.limits import Limits
from dl_optools.capture.writer import BundleWriter
from dl_optools.compare.call_comparison import CheckedCall
from dl_optools.compare.host_copies import CallRecord, TensorOrigin
from dl_optools.compare.subjects import GradientSubject, outputs_of
from dl_optools.operators import UnknownOperatorError, operator
from dl_optools.outputs import results_directory, run_stamp, unused_path
from dl_optools.tensors import tensors_of


class FailureBundles:
    """Writes the bundles into ``op_autocompare_result/pid<pid>_<time>``, created with the first
    bundle.

    :param most: maximum number of operators.
    :param device: type of the device under test, recorded as the device of the capture.
    """

    def __init__(self, most: int, device: str, limits: Limits) -> None:
        self.most = most
        self.device = device
        self.limits = limits
        self._operators: set[str] = set()
        self._writer: BundleWriter | None = None
        self._lock = threading.Lock()

    def write(self, call: CheckedCall) -> Path | None:
        """Write a call's bundle and wait for its completion; called by threads of the tool.

        :returns: its directory; None if the operator already has one, or the maximum is reached.
        :raises NotStorableError: a bundle cannot store it, or the quota does not allow it.
        """
        with self._lock:
            if call.record is None or call.name in self._operators:
                return None
            if len(self._operators) >= self.most:
                return None
            self._operators.add(call.name)
            if self._writer is None:
                directory = unused_path(results_directory("op_autocompare_result") / run_stamp())
                # The writer is closed with the tool, which judges calls even after the program's
                # end.
                self._writer = BundleWriter(directory, self.limits, at_exit=False)
            writer = self._writer
        addition = _addition(call, call.record, self.device, writer.directory)
        writer.submit(addition)
        writer.flush()
        if not addition.draft.length:
            raise NotStorableError(", ".join(writer.written.dropped) or "it could not be written")
        return addition.draft.directory

    def close(self) -> list[str]:
        """Finish pending writes; return descriptions of what could not be written."""
        if self._writer is None:
            return []
        self._writer.close()
        return self._writer.losses


def _addition(call: CheckedCall, record: CallRecord, device: str, directory: Path) -> Addition:
    try:
        function = operator(call.name, call.level)
    except UnknownOperatorError as error:
        raise NotStorableError(str(error)) from None
    places: dict[int, TensorOrigin] = {}
    leaves = iter(record.leaves)

    def leaf(value: Any) -> Any:
        given = next(leaves)
        if not isinstance(given, TensorOrigin):
            return given
        places[id(value)] = given
        return value

    given_args, given_kwargs = tree_map(leaf, tuple(call.tree[:2]))
    table = Table()
    args, kwargs = encode(given_args, table), encode(given_kwargs, table)
    draft = Draft(
        directory / call.name / f"{call.number:06d}",
        Document(
            operator=call.name,
            level=call.level,
            schema=schema_of(function),
            args=args,
            kwargs=kwargs,
            inputs=tuple(table.position(x) or 0 for x in table.own),
            device=device,
            context=dict(record.context),
            program=program_of(
                call.number,
                call.module,
                call.parent or None,
                call.backward and not isinstance(call.subject, GradientSubject),
                call.stack,
            ),
            software=software(),
        ),
    )
    addition = Addition(draft)
    _add(addition, table, places)
    inputs = {id(x): at for at, x in enumerate(table.own)}
    tensors = tensors_of(given_args, given_kwargs)
    same = {id(copy): inputs[id(tensors[at])] for at, copy in record.after.items()}
    after = Table(draft.tensor_count)
    described = encode(record.result, after)
    returned = len(after.tensors)
    for copy in record.after.values():
        after.add(copy)
    outcome = {x: TensorOrigin(where, True) for x, where in record.devices.items()}
    _add(addition, after, outcome)
    addition.changes = {
        "result": described,
        # Copies of results share no memory with copies of arguments: the sharing is unknown.
        "results": tuple(
            Result(after.start + at, same.get(id(x)), same.get(id(x)))
            for at, x in enumerate(after.tensors)
        ),
        "returned": returned,
    }
    if isinstance(call.subject, GradientSubject):
        gradients = _gradients(call, record, call.subject, table, after, addition, device)
        addition.changes = {**addition.changes, "gradients": gradients}
    return addition


def _gradients(
    call: CheckedCall,
    record: CallRecord,
    subject: GradientSubject,
    before: Table,
    after: Table,
    addition: Addition,
    device: str,
) -> GradientsRecord:
    tensors = tensors_of(call.tree[:2])
    left = [record.after.get(at, x) for at, x in enumerate(tensors)]
    outputs = outputs_of(record.result, left, subject.written)
    arrived = {id(x): gradient for x, gradient in zip(outputs, call.tree[2], strict=True)}
    sent = {
        id(tensors[at]): gradient
        for at, (_, gradient) in zip(subject.wanted, call.answers, strict=True)
    }
    table = Table(addition.draft.tensor_count)
    sides = [
        tuple(_index(table, gradients.get(id(x))) for x in owners)
        for owners, gradients in ((after.tensors, arrived), (before.own, sent))
    ]
    _add(addition, table, {id(x): TensorOrigin(device, True) for x in table.tensors})
    return GradientsRecord(*sides)


def _index(table: Table, gradient: torch.Tensor | None) -> int | None:
    return None if gradient is None else table.add(gradient)


def _add(addition: Addition, table: Table, places: Mapping[int, TensorOrigin]) -> None:
    """Add the tensors of a table, as tensors of the devices that they were copied from."""
    snapshot = Snapshot(table.tensors)
    names = [places.get(id(x)) for x in table.tensors]
    records = list(snapshot.records)
    for at, place in enumerate(names):
        if place is not None:
            for part in snapshot.records[at].parts.values():
                records[part] = replace(records[part], device=place.device)
            records[at] = replace(records[at], device=place.device, leaf=place.leaf)
    snapshot.records = records
    addition.add(snapshot, range(len(table.tensors)))
