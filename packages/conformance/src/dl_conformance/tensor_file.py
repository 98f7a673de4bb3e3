"""Reader and writer of safetensors files with NumPy alone.

The format is eight bytes with the length of the header, the header as JSON, and the bytes of all
tensors one after the other. Such a file contains no code, and the header is validated against the
length of the file before any tensor is read.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any

import numpy as np

from diopi_proto.atomic_file import replace_atomically
from diopi_proto.foreign_file import open_regular

from .inputs import Array

CODES: Mapping[str, str] = {
    "float16": "F16",
    "bfloat16": "BF16",
    "float32": "F32",
    "float64": "F64",
    "complex64": "C64",
    "complex128": "C128",
    "uint8": "U8",
    "int8": "I8",
    "int16": "I16",
    "int32": "I32",
    "int64": "I64",
    "bool": "BOOL",
}
"""Names of the contract's dtypes in the format."""
DTYPES = {code: dtype for dtype, code in CODES.items()}
LARGEST_HEADER = 100_000_000
DIMENSIONS = 64


class TensorFileError(Exception):
    """The file does not have the format, or is damaged."""


@dataclass(frozen=True)
class Stored:
    """Elements in the storage format of their dtype: bfloat16 as bits."""

    dtype: str
    elements: Array


def carrier(dtype: str) -> np.dtype[Any]:
    """Return the NumPy dtype that stores the elements of a dtype."""
    return np.dtype(np.uint16 if dtype == "bfloat16" else dtype)


def write_tensors(path: Path, tensors: Mapping[str, Stored], metadata: Mapping[str, str]) -> None:
    """Write a file atomically: readers of the old file keep their version."""
    header: dict[str, Any] = {"__metadata__": dict(metadata)}
    data, end = [], 0
    for name, tensor in tensors.items():
        content = np.ascontiguousarray(tensor.elements, carrier(tensor.dtype)).tobytes()
        header[name] = {
            "dtype": CODES[tensor.dtype],
            "shape": list(tensor.elements.shape),
            "data_offsets": [end, end + len(content)],
        }
        data.append(content)
        end += len(content)
    text = json.dumps(header).encode("ascii")
    text += b" " * (-len(text) % 8)
    with replace_atomically(path) as new, new.open("wb") as file:
        file.write(len(text).to_bytes(8, "little"))
        file.write(text)
        file.writelines(data)


def read_tensors(path: Path) -> tuple[dict[str, Stored], dict[str, str]]:
    """Read the tensors of a file by name, and its metadata.

    :raises TensorFileError: the file does not have the format, or is damaged.
    :raises OSError: the file cannot be read.
    """
    if not path.exists():
        raise TensorFileError("no such file")
    # The part after the header may be of any size: tensors take memory only when they are used.
    with open_regular(path) as file:
        if os.fstat(file.fileno()).st_size < 8:
            raise TensorFileError("it is too short for a file of tensors")
        content = mmap(file.fileno(), 0, access=ACCESS_READ)
    length = int.from_bytes(content[:8], "little")
    if length > min(len(content) - 8, LARGEST_HEADER):
        raise TensorFileError(
            "it is not a file of tensors (safetensors), or it is truncated: its header would have "
            f"{length} bytes, but the file has {len(content)}"
        )
    try:
        header = json.loads(
            content[8 : 8 + length].decode("utf-8"), parse_constant=_reject_constant
        )
    except (ValueError, RecursionError) as error:
        raise TensorFileError(f"its header is not valid JSON: {error}") from None
    if not isinstance(header, dict):
        raise TensorFileError("its header is not an object")
    metadata = header.pop("__metadata__", {})
    if not isinstance(metadata, dict) or not all(isinstance(x, str) for x in metadata.values()):
        raise TensorFileError("its metadata is not a mapping of strings")
    body = memoryview(content)[8 + length :]
    for name, entry in header.items():
        _check_entry(name, entry)
    tensors, end = {}, 0
    for name, entry in sorted(header.items(), key=lambda x: x[1]["data_offsets"]):
        tensors[name], end = _tensor(name, entry, body, end)
    if end != len(body):
        raise TensorFileError(
            f"its tensors have {end} bytes, but the file has {len(body)} for them"
        )
    return tensors, metadata


def _reject_constant(text: str) -> Any:
    raise ValueError(f"{text} is not a JSON number")


def _check_entry(name: str, entry: Any) -> None:
    if not isinstance(entry, dict) or entry.keys() != {"dtype", "shape", "data_offsets"}:
        raise TensorFileError(f"tensor {name!r} is not described by dtype, shape and data_offsets")
    dtype, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not isinstance(dtype, str) or dtype not in DTYPES:
        raise TensorFileError(f"tensor {name!r} has dtype {dtype!r}; known: {', '.join(DTYPES)}")
    if not is_sizes(shape) or not is_sizes(offsets) or len(offsets) != 2:
        raise TensorFileError(f"tensor {name!r}: shape and data_offsets must be lists of sizes")


def _tensor(name: str, entry: dict[str, Any], body: memoryview, start: int) -> tuple[Stored, int]:
    """Return one tensor and the end of its bytes; it must begin where the previous one ends."""
    dtype, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    kind = carrier(DTYPES[dtype])
    size = math.prod(shape) * kind.itemsize
    if offsets != [start, start + size] or start + size > len(body):
        raise TensorFileError(
            f"tensor {name!r} of {dtype}{shape} has {size} bytes and must begin at byte {start} of "
            f"the {len(body)} bytes of data, but its data_offsets are {offsets}"
        )
    if elements_of(shape) >= 1 << 56:
        raise TensorFileError(f"tensor {name!r} has the shape {shape}, which is too large")
    flat = np.frombuffer(body[start : start + size], kind)
    if not flat.flags.aligned:
        flat = flat.copy()
    if dtype == "BOOL" and (flat.view(np.uint8) > 1).any():
        raise TensorFileError(f"tensor {name!r} has dtype BOOL but bytes that are neither 0 nor 1")
    return Stored(DTYPES[dtype], flat.reshape(shape)), start + size


def elements_of(shape: Iterable[int]) -> int:
    """Return the product of all nonzero sizes, which NumPy and others limit too."""
    return math.prod(size for size in shape if size)


def is_sizes(value: Any) -> bool:
    """Return True if a JSON value is a list of nonnegative sizes."""
    return (
        isinstance(value, list)
        and len(value) <= DIMENSIONS
        and all(type(x) is int and 0 <= x < 1 << 62 for x in value)
    )
