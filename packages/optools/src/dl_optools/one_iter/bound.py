"""Comparison of recorded calls with the CPU's float64, in units of the rounding bound."""

from __future__ import annotations

from typing import Any

import torch

from diopi_proto.tolerance.torch_operators.comparison import OutputComparison
from dl_optools.bundle.errors import BundleError
from dl_optools.bundle.values import DeviceRef, TensorRef, decode, dtype_of, substitute
from dl_optools.compare.call_comparison import CheckedCall
from dl_optools.compare.judging import judge
from dl_optools.compare.subjects import FunctionSubject, GradientSubject, Subject
from dl_optools.compare.tolerance_options import ComparisonOptions
from dl_optools.names import Level
from dl_optools.one_iter.folder import Reader, Record
from dl_optools.operators import UnknownOperatorError, operator
from dl_optools.tensors import tensors_of


def compare_with_bound(reader: Reader, record: Record) -> dict[str, OutputComparison]:
    """Compare the results of a recorded call, by name; empty if it has no reference.

    :param reader: the step under test.
    :param record: record of an operator, forward or backward.
    """
    forward = record
    if record.phase == "backward":
        key = Record(record.kind, record.name, record.module, record.call).key
        found = reader.find(key)
        if found is None:
            return {}
        forward = found
    if forward.replay is None or record.random:
        return {}
    try:
        checked = _checked(reader, record, forward, forward.replay)
    except (BundleError, UnknownOperatorError, KeyError, TypeError, ValueError):
        # The file was not written by this tool, or the operator's package is not installed.
        return {}
    found_parts = judge(checked, ComparisonOptions({})).parts
    return {part.output: part for part in found_parts}


def _checked(
    reader: Reader, record: Record, forward: Record, replay: dict[str, Any]
) -> CheckedCall:
    places: list[str] = replay["tensors"]
    tensors = []
    for place, needs in zip(places, replay["needs_gradient"], strict=True):
        tensor = reader.tensor(forward.inputs[place])
        tensors.append(tensor.requires_grad_(bool(needs)) if needs else tensor)

    def leaf(value: Any) -> Any:
        if isinstance(value, TensorRef):
            return tensors[value.index]
        return torch.device("cpu") if isinstance(value, DeviceRef) else value

    args, kwargs = (
        substitute(decode(replay[part], len(tensors), part), leaf) for part in ("args", "kwargs")
    )
    function = operator(record.name, Level.API)
    autocast = None if replay["autocast"] is None else dtype_of(replay["autocast"], "autocast")
    written = [int(at) for at in replay["written"]]
    answers: list[tuple[str, Any]]
    subject: Subject
    tree: Any
    if record is forward:
        subject = FunctionSubject(function, written, autocast)
        tree = (args, kwargs)
        answers = [(place, reader.tensor(name)) for place, name in record.outputs.items()]
    else:
        at_places = [at for at, x in enumerate(places) if f"gradient of {x}" in record.outputs]
        # One tensor may be several arguments, like query, key and value of self-attention.
        given = [id(x) for x in tensors_of(args, kwargs)]
        wanted = [given.index(id(tensors[at])) for at in at_places]
        incoming = [
            reader.tensor(record.inputs[name]) if name in record.inputs else None
            for name in (f"gradient of {place}" for place in forward.outputs)
        ]
        subject = GradientSubject(function, written, autocast, wanted)
        tree = (args, kwargs, incoming)
        answers = [
            (name, reader.tensor(record.outputs[name]))
            for name in (f"gradient of {places[at]}" for at in at_places)
        ]
    return CheckedCall(
        record.call, record.name, Level.API, subject, tree, answers, record is not forward
    )
