"""Description of one bundle for ``dl bundle show``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from diopi_proto.worker import note
from dl_optools.bundle.document import Document
from dl_optools.bundle.errors import BundleError
from dl_optools.bundle.reader import read
from dl_optools.bundle.values import DeviceRef, GeneratorRef, TensorRef, substitute
from dl_optools.isolation.answer import Answer


def show(path: str, *, memory: int) -> Answer:
    """Verify a bundle and describe it: lines, then rows for its tensors.

    It runs nothing, so that it also shows calls that other commands refuse.
    """
    note("it was reading the bundle")
    try:
        bundle = read(Path(path), limit=memory, trusted=True)
    except BundleError as error:
        return Answer.refused(str(error))
    document = bundle.document
    roles = _roles(document)
    lines = [*_lines(document), f"  call    {_format_call(document, roles)}"]
    return Answer(rows=_rows(document, roles), lines=lines)


def _lines(document: Document) -> list[str]:
    program = document.program
    lines = [
        f"{document.operator} (level {document.level.value}), captured on {document.device}",
        f"  content {document.content_hash}",
    ]
    if document.schema:
        lines.append(f"  schema  {document.schema}")
    if program["module"] or program["parent"]:
        names = [f"module {program['module']}" if program["module"] else "", program["parent"]]
        lines.append(f"  called by {', '.join(filter(None, names))}")
    for frame in program["stack"]:
        place = f"{frame['file']}:{frame['line']} in {frame['function']}: {frame['code']}"
        lines.append(f"  at {place}")
    lines.append(f"  with {', '.join(f'{k} {v}' for k, v in document.software.items())}")
    if document.rng:
        lines.append(f"  draws random numbers on {', '.join(document.rng)}")
    if document.error is not None:
        lines.append(f"  it raised {document.error}")
    return lines


def _roles(document: Document) -> dict[int, str]:
    """Return the role of each tensor in the call."""
    roles = {index: f"input {at}" for at, index in enumerate(document.inputs)}
    roles |= {result.tensor: f"result {at}" for at, result in enumerate(document.results)}
    if document.gradients is not None:
        for kind, side in (
            ("gradient of result", document.gradients.outputs),
            ("gradient of input", document.gradients.inputs),
        ):
            roles |= {index: f"{kind} {at}" for at, index in enumerate(side) if index is not None}
    return roles


def _rows(document: Document, roles: Mapping[int, str]) -> list[list[str]]:
    rows = []
    for index, role in sorted(roles.items()):
        tensor = document.tensors[index]
        place = "" if tensor.storage is None else f"storage {tensor.storage} + {tensor.offset}"
        stride = tensor.layout if tensor.stride is None else str(list(tensor.stride))
        rows.append([role, tensor.dtype, str(list(tensor.shape)), stride, tensor.device, place])
    return rows


class _Role(str):
    """Text whose representation has no quotes."""

    def __repr__(self) -> str:
        return str(self)


def _format_call(document: Document, roles: Mapping[int, str]) -> str:
    """Return the call as text, with the roles of tensors as arguments."""

    def leaf(value: object) -> object:
        if isinstance(value, TensorRef):
            return _Role(roles.get(value.index, f"tensor {value.index}"))
        if isinstance(value, DeviceRef):
            return _Role(f"device {value.name}")
        if isinstance(value, GeneratorRef):
            return _Role(f"generator of {value.device.name} with seed {value.seed}")
        return value

    args, kwargs = substitute((document.args, document.kwargs), leaf)
    parts = [*map(repr, args), *(f"{name}={value!r}" for name, value in kwargs.items())]
    return f"{document.operator}({', '.join(parts)})"
