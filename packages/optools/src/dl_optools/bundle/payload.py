"""The payload files of bundles: bytes by their hash, each in a safetensors file of its own.

A file holds one tensor named ``bytes`` of dtype U8. It stands in ``store/<xx>/<hash>.safetensors``
next to the bundle, or in a directory above it: all bundles of a capture share one store, and equal
bytes are there once.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path

from diopi_proto.foreign_file import open_regular
from dl_optools.bundle.errors import BundleError

STORE = "store"
_LEVELS_UP = 3
"""How far above a bundle its store may stand."""
_CHUNK = 1 << 22


def header(nbytes: int) -> bytes:
    """What stands before the bytes in the file."""
    entry = {"dtype": "U8", "shape": [nbytes], "data_offsets": [0, nbytes]}
    text = json.dumps({"bytes": entry}, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text


def path_of(store: Path, digest: str) -> Path:
    return store / digest[:2] / f"{digest}.safetensors"


def write(store: Path, digest: str, data: memoryview) -> int:
    """Store bytes whose hash is known; nothing is left half written.

    :returns: the file's length; 0 if it was there.
    """
    path = path_of(store, digest)
    if path.exists():
        return 0
    path.parent.mkdir(parents=True, exist_ok=True)
    start = header(data.nbytes)
    partial = path.with_suffix(f".{os.getpid()}.partial")
    with partial.open("wb") as file:
        file.write(start)
        file.write(data)
    partial.replace(path)
    return len(start) + data.nbytes


def stores(bundle: Path) -> Iterator[Path]:
    """Where the payloads of a bundle in this directory may stand."""
    directory = bundle.resolve()
    for _ in range(1 + _LEVELS_UP):
        if (directory / STORE).is_dir():
            yield directory / STORE
        directory = directory.parent


def read(bundle: Path, digest: str, nbytes: int) -> bytearray:
    """The bytes with this hash.

    :raises BundleError: the file is missing, is no plain file, or is not exactly what was written.
    """
    start = header(nbytes)
    for store in stores(bundle):
        path = path_of(store, digest)
        try:
            # A symbolic link may lead anywhere.
            with open_regular(path, follow_links=False) as file:
                size = os.fstat(file.fileno()).st_size
                if size != len(start) + nbytes or file.read(len(start)) != start:
                    raise BundleError(f"the payload {path} is damaged: {nbytes} bytes belong there")
                data = bytearray(nbytes)
                view, known = memoryview(data), hashlib.sha256()
                while view and (length := file.readinto(view[:_CHUNK])):
                    known.update(view[:length])
                    view = view[length:]
        except FileNotFoundError:
            continue
        except OSError as error:
            raise BundleError(f"the payload {path} cannot be read: {error.strerror}") from None
        if view or known.hexdigest() != digest:
            raise BundleError(f"the payload {path} is damaged: its bytes have another hash")
        return data
    raise BundleError(f"the payload {digest}.safetensors is missing: no store has it")
