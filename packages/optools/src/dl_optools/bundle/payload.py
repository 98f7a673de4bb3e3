"""Payload files of bundles, named by the hash of their bytes, each a safetensors file.

A file holds one tensor named ``bytes`` of dtype U8. Its path is ``store/<xx>/<hash>.safetensors``
next to the bundle, or in a directory above it: all bundles of a capture share one store, and equal
bytes are stored once.
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
"""Number of directories above a bundle that are searched for its store."""
_CHUNK = 1 << 22


def header(nbytes: int) -> bytes:
    """Return the header that precedes the bytes in the file."""
    entry = {"dtype": "U8", "shape": [nbytes], "data_offsets": [0, nbytes]}
    text = json.dumps({"bytes": entry}, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text


def path_of(store: Path, digest: str) -> Path:
    return store / digest[:2] / f"{digest}.safetensors"


def write(store: Path, digest: str, data: memoryview) -> int:
    """Store bytes whose hash is known, atomically.

    :returns: the file's length; 0 if it already existed.
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
    """Yield the directories that may hold the payloads of a bundle."""
    directory = bundle.resolve()
    for _ in range(1 + _LEVELS_UP):
        if (directory / STORE).is_dir():
            yield directory / STORE
        directory = directory.parent


def read(bundle: Path, digest: str, nbytes: int) -> bytearray:
    """Return the bytes with this hash.

    :raises BundleError: the file is missing, not a regular file, or not exactly what was written.
    """
    start = header(nbytes)
    for store in stores(bundle):
        path = path_of(store, digest)
        try:
            # A symbolic link could point anywhere.
            with open_regular(path, follow_links=False) as file:
                size = os.fstat(file.fileno()).st_size
                if size != len(start) + nbytes or file.read(len(start)) != start:
                    raise BundleError(f"the payload {path} is damaged: it must have {nbytes} bytes")
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
            raise BundleError(f"the payload {path} is damaged: its content does not match its hash")
        return data
    raise BundleError(
        f"the payload {digest}.safetensors is missing: it is in no store of the bundle"
    )
