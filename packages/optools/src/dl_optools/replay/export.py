"""Export of bundles as scripts that need only torch and safetensors, and as standalone copies.

A script consists of :mod:`.script_template`, which this package never imports, and of the call.
"""

from __future__ import annotations

import ast
import inspect
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import save_file

from diopi_proto.foreign_file import read_regular, read_regular_text
from diopi_proto.worker import note
from dl_core.errors import OutputError
from dl_core.files import check_free, write, write_text
from dl_optools.bundle import payload, restore
from dl_optools.bundle.document import Document
from dl_optools.bundle.errors import BundleError
from dl_optools.bundle.location import FILE
from dl_optools.bundle.reader import LARGEST_DOCUMENT, Bundle, read
from dl_optools.bundle.records import TensorRecord
from dl_optools.bundle.sizes import Use
from dl_optools.bundle.values import DeviceRef, GeneratorRef, Named, TensorRef
from dl_optools.isolation.answer import WRONG, Answer
from dl_optools.names import Level
from dl_optools.replay.scripts import DOCUMENT


def to_repro(bundle: Bundle, script: Path, *, force: bool = False) -> None:
    """Write a script that runs the call and reports whether it is right, also by its exit status.

    The script also reports the distance of its results from the recorded results. Its tensors are
    stored next to it, in a file of the same name with the suffix ``.safetensors``.

    :param force: replace existing files.
    :raises OutputError: one of the two files exists, or cannot be written.
    """
    _script(bundle, script, force, bench=False)


def to_bench(bundle: Bundle, script: Path, *, force: bool = False) -> None:
    """Write a script that times the call, forward and backward; files as in :func:`to_repro`."""
    _script(bundle, script, force, bench=True)


def pack(bundle: Bundle, directory: Path, *, force: bool = False) -> None:
    """Write a copy of one bundle with its own store.

    :param force: replace an existing bundle.
    :raises OutputError: the directory already holds a bundle, or cannot be written.
    """
    check_free([directory / FILE], force)
    for record in bundle.document.storages:
        for piece in record.pieces:
            data = payload.read(bundle.path, piece.hash, piece.nbytes)
            payload.write(directory / payload.STORE, piece.hash, memoryview(data))
    document = read_regular(bundle.path / FILE, LARGEST_DOCUMENT, follow_links=False)
    write(directory / FILE, lambda made: made.write_bytes(document), force)


def export(
    path: str,
    *,
    what: str,
    output: str,
    force: bool,
    memory: int,
    trusted: bool = False,
) -> Answer:
    """Read a bundle and export it."""
    note("it was reading the bundle")
    try:
        runs = what == "to-conformance"
        use = Use.CHECK if runs else Use.READ
        bundle = read(Path(path), limit=memory, use=use, trusted=trusted)
        note(f"it was running {bundle.document.operator}" if runs else f"it was writing {output}")
        return Answer(lines=_EXPORTS[what](bundle, Path(output), force=force) or [])
    except (BundleError, OutputError) as error:
        return Answer.refused(str(error))
    except ImportError as error:
        return Answer.refused(f"{error}: pip install dl-conformance")
    except OSError as error:
        return Answer.refused(f"{error.filename or output}: {error.strerror}")
    except (RuntimeError, TypeError, ValueError, IndexError, MemoryError) as error:
        text = f"{type(error).__name__}: {error}".partition("\n")[0]
        return Answer(lines=[f"{path}: it raises {text}"], code=WRONG)


def _to_conformance(bundle: Bundle, output: Path, *, force: bool) -> list[str]:
    from dl_optools.conformance.export import to_conformance  # needs dl-conformance

    return to_conformance(bundle, output, force=force)


_EXPORTS: Mapping[str, Callable[..., list[str] | None]] = {
    "to-repro": to_repro,
    "to-bench": to_bench,
    "pack": pack,
    "to-conformance": _to_conformance,
}


def _script(bundle: Bundle, script: Path, force: bool, bench: bool) -> None:
    text = f"{_describe_origin(bundle.document)}\n{_template()}\n\n{_call(bundle.document)}\n"
    text += f"\nif __name__ == '__main__':\n    main(CALL, __file__, bench={bench})\n"
    tensors = script.with_suffix(".safetensors")
    if tensors == script:
        raise OutputError(f"{script} is the name of the script's tensors; choose another name")
    check_free([script, tensors], force)
    memory = {f"storage{at}": flat for at, flat in enumerate(bundle.storages)}
    texts = {
        DOCUMENT: read_regular_text(
            bundle.path / FILE, LARGEST_DOCUMENT, encoding="ascii", follow_links=False
        )
    }
    write(tensors, lambda made: _save(memory, texts, made), force)
    write_text(script, text, force)


def _template() -> str:
    """Return the template with the source of :mod:`.bundle.restore` in place of its import."""
    template = Path(__file__).with_name("script_template.py").read_text(encoding="utf-8")
    lines = template.splitlines()
    (imported,) = (
        statement
        for statement in ast.parse(template).body
        if isinstance(statement, ast.ImportFrom) and statement.module == restore.__name__
    )
    source = inspect.getsource(restore)
    # The docstring and the imports come first; the template has most of these imports, too.
    _, *statements = ast.parse(source).body
    imports = [x for x in statements if isinstance(x, (ast.Import, ast.ImportFrom))]
    missing = [text for text in map(ast.unparse, imports) if text not in lines]
    functions = source.splitlines()[imports[-1].end_lineno :]
    # The line above the import is the comment about it.
    lines[imported.lineno - 2 : imported.end_lineno] = [*missing, *functions]
    return "\n".join(lines) + "\n"


def _save(memory: dict[str, torch.Tensor], texts: dict[str, str], path: Path) -> None:
    try:
        save_file(memory, path, metadata=texts)
    except SafetensorError as error:
        raise OSError(str(error)) from None


def _describe_origin(document: Document) -> str:
    """Describe the origin of the call in comments. Texts of the bundle never become code."""
    program = document.program
    lines = [
        f"{document.operator}, captured on {document.device}; content {document.content_hash}",
        ", ".join(f"{name} {version}" for name, version in document.software.items()),
    ]
    if program["module"]:
        lines.append(f"called by module {program['module']}")
    lines += [f"at {x['file']}:{x['line']} in {x['function']}" for x in program["stack"]]
    if document.error is not None:
        lines.append(f"it raised {document.error}")
    return "\n".join(f"# {ascii(line)[1:-1]}" for line in lines)


def _call(document: Document) -> str:
    """Return the call as Python source that follows the template."""
    api = document.level is Level.API
    gradients = document.gradients
    tracked = set(document.inputs) if api else set()
    tensors = {at: _tensor(x, at in tracked) for at, x in enumerate(document.tensors)}
    entries = "".join(f"        {at}: {_dict(known)},\n" for at, known in tensors.items())
    outputs = () if gradients is None else gradients.outputs
    inputs = () if gradients is None else gradients.inputs
    context = document.context
    fields = {
        "operator": document.operator if api else f"torch.ops.{document.operator}",
        "captured_on": repr(document.device),
        "tensors": f"{{\n{entries}    }}",
        "arguments": "arguments",
        "inputs": repr(list(document.inputs)),
        "results": repr([result.tensor for result in document.results]),
        "written": repr([result.same for result in document.results[document.returned :]]),
        "incoming": repr(list(outputs)),
        "gradients": repr(list(inputs)),
        "rng": repr(document.rng),
        "grad": repr(context["grad"]),
        "default_dtype": f"torch.{context['default_dtype']}",
        "autocast": _dict({name: f"torch.{dtype}" for name, dtype in context["autocast"].items()}),
    }
    literal = _Literal(document.device)
    lines = "".join(f"    {name}={value},\n" for name, value in fields.items())
    return (
        "def arguments(t):\n"
        f"    args = {literal.of(document.args)}\n"
        f"    kwargs = {literal.of(document.kwargs)}\n"
        f"    return args, kwargs\n\n\nCALL = Call(\n{lines})\n"
    )


def _dict(known: Mapping[str, str]) -> str:
    return "{" + ", ".join(f"{name!r}: {value}" for name, value in known.items()) + "}"


def _tensor(record: TensorRecord, tracked: bool) -> dict[str, str]:
    found = {
        "requires_grad": repr(tracked and record.requires_grad),
        "leaf": repr(record.leaf),
        "shape": repr(record.shape),
        "device": repr(DeviceRef(record.device).type),
    }
    if record.stride is None:
        return {
            **found,
            "layout": repr(record.layout),
            "parts": repr(list(record.parts.values())),
            "coalesced": repr(record.coalesced),
        }
    return {
        **found,
        "dtype": f"torch.{record.dtype}",
        "storage": repr(record.storage),
        "stride": repr(record.stride),
        "offset": repr(record.offset),
        "conj": repr(record.conj),
        "neg": repr(record.neg),
    }


class _Literal:
    """Arguments as Python source.

    :param device: type of the captured device, which the script's own replaces.
    """

    def __init__(self, device: str) -> None:
        self._device = device

    def of(self, value: Any) -> str:
        if isinstance(value, (list, tuple, dict, slice, Named)):
            return self._container(value)
        if isinstance(value, TensorRef):
            return f"t({value.index})"
        if isinstance(value, GeneratorRef):
            return f"t.generator({value.device.type!r}, {value.seed}, {value.state})"
        if isinstance(value, DeviceRef):
            return f"t.device({value.type!r})"
        if isinstance(value, float) and not math.isfinite(value):
            return f"float('{value}')"
        if isinstance(value, complex):
            return f"complex({self.of(value.real)}, {self.of(value.imag)})"
        if value is Ellipsis:
            return "..."
        if isinstance(value, str):
            is_device = value.partition(":")[0] == self._device
            return "str(t.target)" if is_device else ascii(value)
        # None, numbers, and constants of torch, whose representations are expressions.
        return repr(value)

    def _container(self, value: Any) -> str:
        if isinstance(value, torch.Size):
            return f"torch.Size({list(value)})"
        if isinstance(value, Named):
            value = value.items
        if isinstance(value, dict):
            return "{" + ", ".join(f"{k!a}: {self.of(x)}" for k, x in value.items()) + "}"
        if isinstance(value, slice):
            return f"slice({', '.join(map(self.of, (value.start, value.stop, value.step)))})"
        inner = "".join(f"{self.of(x)}, " for x in value)
        return f"[{inner}]" if isinstance(value, list) else f"({inner})"
