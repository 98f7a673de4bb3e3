"""Reader of ``.npz`` files of inputs. Arrays are checked from their headers before they are read.

The format is numpy's: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
"""

from __future__ import annotations

import io
import lzma
import math
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np

from diopi_proto.dtypes import Array, check_numeric
from diopi_proto.foreign_file import ForeignFileError, open_regular
from diopi_proto.free_memory import free_memory

_LONGEST_HEADER = 1 << 14
_HEADERS = {1: np.lib.format.read_array_header_1_0, 2: np.lib.format.read_array_header_2_0}
_SHARE = 0.5
"""Share of the free memory for the arrays of one file."""
_DAMAGED = (
    *(ValueError, EOFError, RuntimeError, NotImplementedError, MemoryError),
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError),
)


def read_inputs(
    path: Path, entry: Mapping[str, Any] | None = None, *, limit: int | None = None
) -> dict[str, Array]:
    """Return the arrays of an ``.npz`` file by name.

    :param entry: entry of a graph; arrays that cannot be its inputs are rejected without reading.
    :param limit: maximum total size of the arrays in bytes (default: half of the free memory).
    :raises ValueError: the file has another format, is damaged, contains anything but arrays of
        numbers, or its arrays exceed ``limit``.
    :raises OSError: the file cannot be read, or is not a regular file.
    """
    try:
        with open_regular(path) as file, zipfile.ZipFile(file) as archive:
            members = _members(archive, entry)
            _check_memory(members, int(_SHARE * free_memory()) if limit is None else limit)
            return {name: _array(archive, member) for name, member in members.items()}
    except ForeignFileError:
        raise
    except _DAMAGED as error:
        raise ValueError(f"{path} is not an .npz file of named inputs: {error}") from error


def _members(
    archive: zipfile.ZipFile, entry: Mapping[str, Any] | None
) -> dict[str, zipfile.ZipInfo]:
    """Return the archive's members by array name, after a check of their headers."""
    found: dict[str, zipfile.ZipInfo] = {}
    for member in archive.infolist():
        name = member.filename.removesuffix(".npy")
        if name == member.filename:
            raise ValueError(f"its member {name!r} is not an array")
        if name in found:
            raise ValueError(f"it has two arrays {name!r}")
        try:
            with archive.open(member) as file:
                shape, dtype, begin = _header(file)
            check_numeric(dtype)
            size = math.prod(shape) * dtype.itemsize
            if size != member.file_size - begin:
                raise ValueError(
                    f"its header declares {size:,} bytes, but {member.file_size - begin:,} follow"
                )
            if entry is not None:
                _check_port(name, shape, entry)
        except (ValueError, TypeError, RecursionError) as error:
            raise ValueError(f"array {name!r}: {error}") from error
        found[name] = member
    return found


def _header(file: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any], int]:
    """Return the shape and dtype of an array, and the offset of its elements."""
    begin = file.read(8)
    major, _ = np.lib.format.read_magic(io.BytesIO(begin))
    if major not in _HEADERS:
        raise ValueError(f"version {major} of the format is not supported; save it with numpy.save")
    counted = file.read(2 if major == 1 else 4)
    length = int.from_bytes(counted, "little")
    if length > _LONGEST_HEADER:
        raise ValueError(f"its header has {length:,} bytes, more than {_LONGEST_HEADER:,}")
    text = file.read(length)
    try:
        shape, _, dtype = _HEADERS[major](io.BytesIO(counted + text))
    except ValueError:
        raise
    except Exception as error:
        raise ValueError(f"its header is damaged: {error}") from error
    if any(size < 0 for size in shape):
        raise ValueError(f"its shape {shape} has a negative size")
    return shape, dtype, len(begin) + len(counted) + len(text)


def _check_port(name: str, shape: tuple[int, ...], entry: Mapping[str, Any]) -> None:
    """Reject an array that cannot be the input for any sizes; the session checks the rest."""
    ports = {port["name"]: port["value"] for port in entry["inputs"]}
    if name not in ports:
        raise ValueError(f"unknown input; expected {', '.join(ports) or 'none'}")
    wanted = entry["values"][ports[name]]["shape"]
    largest = {symbol["name"]: symbol["max"] for symbol in entry["symbols"]}
    most = [largest.get(size) if isinstance(size, str) else size for size in wanted]
    if len(shape) != len(most) or any(
        isinstance(limit, int) and size > limit for size, limit in zip(shape, most, strict=True)
    ):
        raise ValueError(
            f"its shape is {list(shape)}, but the input has {_describe(wanted, largest)}"
        )


def _describe(wanted: list[Any], largest: Mapping[str, int]) -> str:
    sizes = (f"{size} ≤ {largest[size]}" if size in largest else str(size) for size in wanted)
    return f"[{', '.join(sizes)}]"


def _check_memory(members: Mapping[str, zipfile.ZipInfo], limit: int) -> None:
    total = sum(member.file_size for member in members.values())
    if total > limit:
        raise ValueError(
            f"its arrays take {total:,} bytes, but the limit is {limit:,} (default: half of the "
            "free memory)"
        )


def _array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Array:
    with archive.open(member) as file:
        found: Array = np.lib.format.read_array(file, allow_pickle=False)
    return found
