"""Files that commands write: nothing is replaced that nobody asked to replace."""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from dl_core.errors import OutputError


def add_force(parser: argparse.ArgumentParser) -> None:
    """The option that :func:`check_free` and :func:`write` go by."""
    parser.add_argument("--force", action="store_true", help="replace files that are there")


def check_free(paths: Iterable[Path], force: bool) -> None:
    """Make sure that files can be written; best done before the work that fills them.

    :raises OutputError: one is there and may not be replaced, or its folder takes no files.
    """
    for path in paths:
        if not force and (path.exists() or path.is_symlink()):
            raise OutputError(f"{path} exists; --force replaces it, or name another file")
        if path.is_dir():
            raise OutputError(f"{path} is a folder; name a file")
        if path.exists() and not path.is_file():
            raise OutputError(f"{path} is a device, or a pipe, which no file replaces; name a file")
        folder = _nearest(path.parent)
        if not folder.is_dir() or not os.access(folder, os.W_OK):
            raise OutputError(f"{path} cannot be written: {folder} takes no files")


def _nearest(folder: Path) -> Path:
    """The folder, or of those above it the first that is there."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return folder


def write(path: Path, fill: Callable[[Path], object], force: bool) -> None:
    """Write a file, as a whole or not at all; folders on the way are made.

    :param fill: writes the content to the path that it is given.
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
    """The same with a text.

    :raises OutputError: as :func:`write`.
    """
    write(path, lambda made: made.write_text(text, encoding="utf-8"), force)
