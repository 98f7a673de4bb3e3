"""Writing of generated files: all or none, each at once."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path


class OutputError(Exception):
    """A generated file cannot be written; the message contains the remedy."""


def outputs_that_differ(wanted: Mapping[Path, str]) -> list[Path]:
    """Return the files that do not exist or have different contents."""
    return [file for file, text in wanted.items() if _contents(file) != text.encode()]


def _contents(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except OSError:
        return None


def write_outputs(wanted: Mapping[Path, str]) -> list[Path]:
    """Write the files that differ and return them.

    A file that does not differ keeps its time, so that it is not compiled again.

    :raises OutputError: a file cannot be written; then no file is changed.
    """
    differing = outputs_that_differ(wanted)
    # Where the new contents of each file are until all have been written.
    temporary = {
        file: file.with_name(f".dl-{os.getpid()}-{number}.tmp")
        for number, file in enumerate(differing)
    }
    file = Path()
    try:
        for file in differing:
            file.parent.mkdir(parents=True, exist_ok=True)
            _remove_leftovers(file.parent)
            temporary[file].write_bytes(wanted[file].encode())
        for file in differing:
            temporary[file].replace(file)
    except OSError as error:
        raise OutputError(
            f"{file} cannot be written: {error.strerror}; correct the path under 'outputs' of "
            "library.yaml, or the folder's permissions"
        ) from error
    finally:
        for path in temporary.values():
            with suppress(OSError):
                path.unlink()
    return differing


def _remove_leftovers(folder: Path) -> None:
    """Remove the temporary files of processes that were killed."""
    for path in folder.glob(".dl-*-*.tmp"):
        process = path.name.split("-")[1]
        if process.isdigit() and not Path(f"/proc/{process}").exists():
            with suppress(OSError):
                path.unlink()


def remove_output(file: Path) -> None:
    """Remove a file that is no longer generated.

    :raises OutputError: it cannot be removed.
    """
    try:
        file.unlink()
    except OSError as error:
        raise OutputError(f"{file} cannot be removed: {error.strerror}; remove it") from error
