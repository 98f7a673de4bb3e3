"""Safe reading of files that users, environment variables or plugins name.

A path may name anything: a FIFO that blocks until another process writes, a device that never ends,
a link to either, or a file larger than the memory. Every reader of such a path uses this module:
the file must be regular, is opened without blocking, and is read up to a size limit.
"""

from __future__ import annotations

import errno
import io
import json
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

SETTINGS_BYTES = 1 << 22
"""Size limit of files that people write by hand: settings, lists of names, adaptors."""
SOURCE_BYTES = 1 << 24
"""Size limit of source files."""
DOCUMENT_BYTES = 1 << 28
"""Size limit of files that tools write: reports, recorded measurements, journals."""

_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISCHR, "a character device"),
    (stat.S_ISBLK, "a block device"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISLNK, "a symbolic link"),
)


class ForeignFileError(OSError):
    """A file is rejected because it is not regular or exceeds its size limit."""

    def __str__(self) -> str:
        return f"{self.filename}: {self.strerror}"


def check_regular(path: str | os.PathLike[str], *, follow_links: bool = True) -> os.stat_result:
    """Return the status of a regular file, for readers that open it by its path.

    :param follow_links: accept a symbolic link and examine its target; False rejects it.
    :raises ForeignFileError: it is not a regular file.
    :raises OSError: it does not exist, or cannot be examined.
    """
    return _regular(path, os.stat(path, follow_symlinks=follow_links))  # noqa: PTH116 - descriptors


def _regular(path: str | os.PathLike[str], status: os.stat_result) -> os.stat_result:
    if not stat.S_ISREG(status.st_mode):
        kind = next((name for is_kind, name in _KINDS if is_kind(status.st_mode)), "something else")
        raise ForeignFileError(errno.EINVAL, f"it is {kind}, not a regular file", os.fspath(path))
    return status


@contextmanager
def open_regular(
    path: str | os.PathLike[str], longest: int | None = None, *, follow_links: bool = True
) -> Iterator[io.BufferedReader]:
    """Open a regular file for reading. Never blocks, and opens no device.

    :param longest: maximum size in bytes; None: unlimited.
    :param follow_links: as for :func:`check_regular`.
    :raises ForeignFileError: it is not a regular file, or is longer than ``longest``.
    :raises OSError: it cannot be opened.
    """
    # Opening a device may have effects, so the path is examined first. It may be replaced before it
    # is opened, so the descriptor is examined again.
    check_regular(path, follow_links=follow_links)
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
    descriptor = os.open(path, flags if follow_links else flags | os.O_NOFOLLOW)
    with os.fdopen(descriptor, "rb") as file:
        size = _regular(path, os.fstat(descriptor)).st_size
        if longest is not None and size > longest:
            raise _too_long(path, size, longest)
        yield file


def read_regular(path: str | os.PathLike[str], longest: int, *, follow_links: bool = True) -> bytes:
    """Return the bytes of a regular file.

    :param longest: maximum size in bytes.
    :param follow_links: as for :func:`check_regular`.
    :raises ForeignFileError: it is not a regular file, or is longer than ``longest``.
    :raises OSError: it cannot be read.
    """
    with open_regular(path, longest, follow_links=follow_links) as file:
        # Files in /proc report no size and may never end; other files may grow during the read.
        left = longest + 1
        pieces = []
        while left and (piece := file.read(min(left, 1 << 20))):
            pieces.append(piece)
            left -= len(piece)
        if not left:
            raise _too_long(path, longest + 1, longest)
    return b"".join(pieces)


def read_regular_text(
    path: str | os.PathLike[str],
    longest: int,
    *,
    encoding: str = "utf-8",
    errors: str = "strict",
    follow_links: bool = True,
) -> str:
    """Return the text of a regular file, as ``Path.read_text`` does.

    :param longest: maximum size in bytes.
    :raises UnicodeDecodeError: it is not text in this encoding.
    :raises ForeignFileError: as :func:`read_regular`.
    """
    content = read_regular(path, longest, follow_links=follow_links)
    return io.TextIOWrapper(io.BytesIO(content), encoding, errors).read()


def read_regular_json(
    path: str | os.PathLike[str],
    longest: int,
    *,
    object_pairs_hook: Callable[[list[tuple[str, Any]]], Any] | None = None,
) -> Any:
    """Return the parsed content of a JSON file.

    :param longest: maximum size in bytes.
    :raises ValueError: it is not JSON, or nests too deeply.
    :raises ForeignFileError: as :func:`read_regular`.
    """
    text = read_regular_text(path, longest)
    try:
        return json.loads(text, object_pairs_hook=object_pairs_hook)
    except RecursionError:
        raise ValueError("it nests too deeply to be read") from None


def _too_long(path: str | os.PathLike[str], size: int, longest: int) -> ForeignFileError:
    text = f"it has {size:,} bytes or more; the limit is {longest:,}"
    return ForeignFileError(errno.EFBIG, text, os.fspath(path))


__all__ = [
    "DOCUMENT_BYTES",
    "SETTINGS_BYTES",
    "SOURCE_BYTES",
    "ForeignFileError",
    "check_regular",
    "open_regular",
    "read_regular",
    "read_regular_json",
    "read_regular_text",
]
