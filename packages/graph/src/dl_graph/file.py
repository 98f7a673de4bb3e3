"""Writer of ``.dlg`` files: safetensors files with the graph in their metadata.

The verifier in C++ reads them: ``csrc/safetensors.cpp``.
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
    """Constant: its dtype, and its elements in numpy's representation."""

    dtype: Dtype
    array: Array


def canonical(document: Mapping[str, Any]) -> str:
    """Return the canonical text of a graph: sorted keys, no white space."""
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def pack(document: Mapping[str, Any], constants: Mapping[str, ConstantTensor]) -> bytes:
    """Return the bytes of a ``.dlg`` file, unverified: :func:`read` verifies them.

    :raises GraphError: safetensors files do not support the dtype of a constant.
    """
    header: dict[str, Any] = {"__metadata__": {"dlg": canonical(document)}}
    parts: list[bytes] = []
    offset = 0
    # Widest elements first, so that all constants are aligned to their elements.
    for name in sorted(constants, key=lambda n: (-constants[n].dtype.itemsize, n)):
        constant = constants[name]
        if constant.dtype.name not in _NAMES:
            raise GraphError(
                f"constant {name!r} is {constant.dtype}, which safetensors files do not support; "
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
    """Return a verified file with the same constants and another document."""
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    header["__metadata__"] = {"dlg": canonical(document)}
    return _joined(header, content[8 + length :])


def _joined(header: Mapping[str, Any], data: bytes) -> bytes:
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    # Pad the header, so that the data are aligned like device memory.
    text += b" " * (-(8 + len(text)) % _ALIGNMENT)
    return len(text).to_bytes(8, "little") + text + data
