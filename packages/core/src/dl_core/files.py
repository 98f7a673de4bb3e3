"""Output files of commands. Existing files are replaced only on request."""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from dl_core.errors import OutputError


def add_force(parser: argparse.ArgumentParser) -> None:
    """Add the option ``--force``, for :func:`check_free` and :func:`write`."""
    parser.add_argument("--force", action="store_true", help="replace existing files")


def check_free(paths: Iterable[Path], force: bool) -> None:
    """Check that files can be written; call it before the work that fills them.

    :raises OutputError: a file exists and may not be replaced, or its folder is not writable.
    """
    for path in paths:
        if not force and (path.exists() or path.is_symlink()):
            raise OutputError(f"{path} exists; --force replaces it, or name another file")
        if path.is_dir():
            raise OutputError(f"{path} is a folder; name a file")
        if path.exists() and not path.is_file():
            raise OutputError(f"{path} is a device or a pipe and is not replaced; name a file")
        folder = _nearest(path.parent)
        if not folder.is_dir() or not os.access(folder, os.W_OK):
            raise OutputError(f"{path} cannot be written: {folder} is not a writable folder")


def _nearest(folder: Path) -> Path:
    """Return the folder or its closest existing parent."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return folder


def write(path: Path, fill: Callable[[Path], object], force: bool) -> None:
    """Write a file atomically and create missing parent folders.

    :param fill: function that writes the contents to the given path.
    :raises OutputError: as :func:`check_free`, or ``fill`` raises OSError.
    """
    check_free([path], force)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".dl-", dir=path.parent) as folder:
            made = Path(folder) / path.name
            fill(made)
            made.replace(path)
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror or error}") from error


def write_text(path: Path, text: str, force: bool) -> None:
    """Write a text; see :func:`write`.

    :raises OutputError: as :func:`write`.
    """
    write(path, lambda made: made.write_text(text, encoding="utf-8"), force)
