"""Writer of ``.dlg`` files: safetensors files with the graph in their metadata.

The verifier reads them in C++: ``csrc/safetensors.cpp``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from diopi_proto.dtypes import Array, Dtype

from .errors import GraphError

_NAMES = {
    "bool": "BOOL",
    "uint8": "U8",
    "int8": "I8",
    "uint16": "U16",
    "int16": "I16",
    "uint32": "U32",
    "int32": "I32",
    "uint64": "U64",
    "int64": "I64",
    "float16": "F16",
    "bfloat16": "BF16",
    "float32": "F32",
    "float64": "F64",
    "complex64": "C64",
}
_ALIGNMENT = 64


@dataclass(frozen=True)
class ConstantTensor:
    """A constant: its dtype, and its elements as numpy stores them."""

    dtype: Dtype
    array: Array


def canonical(document: Mapping[str, Any]) -> str:
    """The one text of a graph: keys sorted, no white space."""
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def pack(document: Mapping[str, Any], constants: Mapping[str, ConstantTensor]) -> bytes:
    """The bytes of a ``.dlg`` file. They are not verified: :func:`read` does that.

    :raises GraphError: a constant has a dtype that safetensors files cannot have.
    """
    header: dict[str, Any] = {"__metadata__": {"dlg": canonical(document)}}
    parts: list[bytes] = []
    offset = 0
    # The widest first, so that all are aligned as their elements ask for.
    for name in sorted(constants, key=lambda n: (-constants[n].dtype.itemsize, n)):
        constant = constants[name]
        if constant.dtype.name not in _NAMES:
            raise GraphError(
                f"constant {name!r} is {constant.dtype}, which a safetensors file cannot have; "
                f"store it as one of {', '.join(_NAMES)}"
            )
        content = constant.array.tobytes()
        header[name] = {
            "dtype": _NAMES[constant.dtype.name],
            "shape": list(constant.array.shape),
            "data_offsets": [offset, offset + len(content)],
        }
        parts.append(content)
        offset += len(content)
    return _joined(header, b"".join(parts))


def repack(content: bytes, document: Mapping[str, Any]) -> bytes:
    """A verified file with the same constants and another document."""
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    header["__metadata__"] = {"dlg": canonical(document)}
    return _joined(header, content[8 + length :])


def _joined(header: Mapping[str, Any], data: bytes) -> bytes:
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    # Where the data begin they are aligned as the memory of a device.
    text += b" " * (-(8 + len(text)) % _ALIGNMENT)
    return len(text).to_bytes(8, "little") + text + data
