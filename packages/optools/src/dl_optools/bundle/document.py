"""The JSON document of a bundle, field by field; docs/bundle.md describes the format.

Reading checks every field, and that every tensor stays inside its storage. It imports nothing by
name and creates no tensor.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any

from dl_optools.bundle.errors import BundleError
from dl_optools.bundle.fields import Fields, below, below_or_none, count, parse
from dl_optools.bundle.records import StorageRecord, TensorRecord, hash_of, span
from dl_optools.bundle.values import decode, device_ref, dtype_of
from dl_optools.names import Level

FORMAT = "dl-op-bundle"
VERSION = 1
_NO_HASH = "0" * 64


@dataclass(frozen=True)
class Result:
    """A tensor after the call.

    :ivar tensor: index into the table.
    :ivar same: index of the input that this tensor is; None if it is not an input.
    :ivar shares: index of the first input whose memory it shares.
    """

    tensor: int
    same: int | None
    shares: int | None

    def as_json(self) -> dict[str, Any]:
        return {"tensor": self.tensor, "same": self.same, "shares": self.shares}


@dataclass(frozen=True)
class GradientsRecord:
    """Gradients of one backward pass; None where no gradient arrived.

    :ivar outputs: in the order of the document's results.
    :ivar inputs: in the order of the document's inputs.
    """

    outputs: tuple[int | None, ...]
    inputs: tuple[int | None, ...]

    def as_json(self) -> dict[str, Any]:
        return {"outputs": list(self.outputs), "inputs": list(self.inputs)}


@dataclass
class Document:
    """One call.

    :ivar arguments: positional and keyword arguments, as :mod:`.values` writes them.
    :ivar inputs: the distinct tensors among the arguments; indices into the table.
    :ivar result: what the call returned, as JSON; its tensors are entries of the table too.
    :ivar results: the distinct tensors of the result, then the inputs that were written to.
    :ivar returned: how many of ``results`` the result holds.
    :ivar rng: states of the default generators that the call drew from, by device.
    :ivar context: ``grad``, ``default_dtype`` and for each device under autocast its dtype.
    :ivar error: the exception that the call raised.
    :ivar program: ``module``, ``parent``, ``backward``, ``stack``, ``call`` (its number).
    :ivar content_hash: hash of the document, which covers payloads by their hashes; "" before it
        is written.
    """

    operator: str
    level: Level
    schema: str | None
    args: Any
    kwargs: Any
    inputs: tuple[int, ...]
    device: str
    context: dict[str, Any]
    program: dict[str, Any]
    software: dict[str, str]
    result: Any = None
    results: tuple[Result, ...] = ()
    returned: int = 0
    gradients: GradientsRecord | None = None
    rng: dict[str, int] = field(default_factory=dict)
    error: str | None = None
    tensors: tuple[TensorRecord, ...] = ()
    storages: tuple[StorageRecord, ...] = ()
    content_hash: str = ""

    def as_json(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "version": VERSION,
            "content_hash": _NO_HASH,
            "operator": self.operator,
            "level": self.level.value,
            "schema": self.schema,
            "device": self.device,
            "args": self.args,
            "kwargs": self.kwargs,
            "result": self.result,
            "inputs": list(self.inputs),
            "results": [result.as_json() for result in self.results],
            "returned": self.returned,
            "gradients": None if self.gradients is None else self.gradients.as_json(),
            "rng": self.rng,
            "context": self.context,
            "error": self.error,
            "program": self.program,
            "software": self.software,
            "tensors": [tensor.as_json() for tensor in self.tensors],
            "storages": [storage.as_json() for storage in self.storages],
        }

    def text(self) -> str:
        """Return the file's content, one line per field.

        ``content_hash`` is the hash of this text with zeros in place of the hash.
        """
        lines = (f"{json.dumps(key)}: {json.dumps(x)}" for key, x in self.as_json().items())
        text = "{\n" + ",\n".join(lines) + "\n}\n"
        digest = hashlib.sha256(text.encode()).hexdigest()
        return text.replace(f'"content_hash": "{_NO_HASH}"', f'"content_hash": "{digest}"', 1)


def read_document(text: str) -> Document:
    """Check and parse the JSON of a bundle.

    :raises BundleError: the text is damaged, of another version, or describes an impossible call.
    """
    fields = Fields(parse(text), "the bundle")
    if fields.anything("format") != FORMAT:
        raise BundleError(f"not a bundle: the format is not {FORMAT!r}")
    version = fields.take("version", int)
    if version != VERSION:
        raise BundleError(f"the format has version {version}, but this dl-optools reads {VERSION}")
    digest = hash_of(fields.take("content_hash", str), "content_hash")
    _check_hash(text, digest)
    level = fields.take("level", str)
    if level not in (known.value for known in Level):
        levels = ", ".join(known.value for known in Level)
        raise BundleError(f"{level!r} is not a level; the levels are {levels}")
    raw_tensors = fields.items("tensors", TensorRecord.read)
    storages = fields.items("storages", StorageRecord.read)
    total = len(raw_tensors)
    _check_tensors(raw_tensors, storages)
    inputs = fields.items("inputs", below(total))
    results = fields.items("results", lambda x, where: _result(x, where, total, len(inputs)))
    document = Document(
        operator=fields.take("operator", str),
        level=Level(level),
        schema=fields.optional("schema", str),
        device=device_ref(fields.anything("device"), "the bundle").name,
        args=decode(fields.anything("args"), total, "args"),
        kwargs=decode(fields.anything("kwargs"), total, "kwargs"),
        result=decode(fields.anything("result"), total, "result"),
        inputs=inputs,
        results=results,
        returned=below(len(results) + 1)(fields.anything("returned"), "returned"),
        gradients=_gradients(fields.anything("gradients"), total, len(results), len(inputs)),
        rng={
            device_ref(name, "rng").name: below(total)(index, "rng")
            for name, index in fields.take("rng", dict).items()
        },
        context=_context(fields.anything("context")),
        error=fields.optional("error", str),
        program=_program(fields.anything("program")),
        software=fields.texts("software"),
        tensors=raw_tensors,
        storages=storages,
        content_hash=digest,
    )
    fields.done()
    if not isinstance(document.args, tuple) or not isinstance(document.kwargs, dict):
        raise BundleError("args is not a tuple, or kwargs is not a dictionary")
    if any(not isinstance(name, str) for name in document.kwargs):
        raise BundleError("a key of kwargs is not a string")
    if any(result.same is None for result in results[document.returned :]):
        raise BundleError("a tensor that was written to is not an input")
    return document


def _check_hash(text: str, digest: str) -> None:
    field_text = f'"content_hash": "{digest}"'
    zeroed = text.replace(field_text, f'"content_hash": "{_NO_HASH}"', 1)
    if field_text not in text or hashlib.sha256(zeroed.encode()).hexdigest() != digest:
        raise BundleError("the content does not match content_hash: the file was changed")


def _check_tensors(tensors: tuple[TensorRecord, ...], storages: tuple[StorageRecord, ...]) -> None:
    for at, tensor in enumerate(tensors):
        where = f"tensor {at}"
        if tensor.stride is None:
            indices = [below(len(tensors))(index, where) for index in tensor.parts.values()]
            if any(tensors[index].stride is None for index in indices):
                raise BundleError(f"{where}: a part is not a dense tensor")
            continue
        storage = storages[below(len(storages))(tensor.storage, where)]
        if len(tensor.stride) != len(tensor.shape):
            raise BundleError(f"{where} has {len(tensor.shape)} sizes, {len(tensor.stride)} steps")
        reach = (tensor.offset + span(tensor.shape, tensor.stride)) * dtype_of(
            tensor.dtype, where
        ).itemsize
        if reach > storage.nbytes:
            raise BundleError(
                f"{where} reaches {reach} bytes into its storage, which has only {storage.nbytes}"
            )


def _result(value: Any, where: str, tensors: int, inputs: int) -> Result:
    fields = Fields(value, where)
    found = Result(
        below(tensors)(fields.anything("tensor"), where),
        below_or_none(inputs)(fields.anything("same"), where),
        below_or_none(inputs)(fields.anything("shares"), where),
    )
    fields.done()
    return found


def _gradients(value: Any, tensors: int, results: int, inputs: int) -> GradientsRecord | None:
    if value is None:
        return None
    fields = Fields(value, "gradients")
    found = GradientsRecord(
        fields.items("outputs", below_or_none(tensors)),
        fields.items("inputs", below_or_none(tensors)),
    )
    fields.done()
    if len(found.outputs) != results or len(found.inputs) != inputs:
        raise BundleError("it does not have one gradient for each result and input")
    return found


def _context(value: Any) -> dict[str, Any]:
    fields = Fields(value, "context")
    found: dict[str, Any] = {
        "grad": fields.take("grad", bool),
        "default_dtype": fields.take("default_dtype", str),
        "autocast": fields.texts("autocast"),
    }
    fields.done()
    dtype_of(found["default_dtype"], "context")
    for device, dtype in found["autocast"].items():
        device_ref(device, "context")
        dtype_of(dtype, "context")
    return found


def _frame(value: Any, where: str) -> dict[str, Any]:
    fields = Fields(value, where)
    found = {
        "file": fields.take("file", str),
        "line": count(fields.anything("line"), where),
        "function": fields.take("function", str),
        "code": fields.take("code", str),
    }
    fields.done()
    return found


def _program(value: Any) -> dict[str, Any]:
    fields = Fields(value, "program")
    found = {
        "call": count(fields.anything("call"), "program"),
        "module": fields.take("module", str),
        "parent": fields.optional("parent", str),
        "backward": fields.take("backward", bool),
        "stack": fields.items("stack", _frame),
    }
    fields.done()
    return found
