"""Paths of generated files: what may be written, and where."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from .located import DataError, quote
from .model import Library
from .names import label_problem
from .text import NOTICE

OUTPUT_FOLDERS = ("sources", "fake")
"""Keys of ``outputs`` that name folders; the others name files."""
_LONGEST_NAME = 255
"""Bytes of a file's name on common file systems."""
_NOTICE_WITHIN = 400
"""Bytes of the first line of a generated file that contain the notice."""


def target(library: Library, key: str) -> Path:
    """Return the path that a key of ``outputs`` names.

    :raises DataError: it is not a path that can be written.
    """
    given = library.outputs[key]
    if label_problem(given):
        raise _error(library, key, label_problem(given))
    if Path(given).is_absolute():
        raise _error(
            library,
            key,
            f"{quote(given)} is absolute; write a path relative to the library's folder",
        )
    if any(len(part.encode()) > _LONGEST_NAME for part in Path(given).parts):
        raise _error(
            library,
            key,
            f"{quote(given)} has a name of more than {_LONGEST_NAME} bytes; shorten it",
        )
    try:
        path = (library.folder / given).resolve()
    except (OSError, RuntimeError) as error:
        raise _error(library, key, f"{quote(given)} cannot be resolved; correct it") from error
    if key in OUTPUT_FOLDERS:
        if path.exists() and not path.is_dir():
            raise _error(library, key, f"{quote(given)} is a file; name a folder")
    elif path.is_dir():
        raise _error(library, key, f"{quote(given)} is a folder; name a file in it")
    return path


def input_files(library: Library) -> list[Path]:
    """Return the files of the description, apart from those in ``operators``."""
    return [(library.folder / name).resolve() for name in ("library.yaml", library.signatures)]


def check_files(library: Library, keys: Mapping[Path, Sequence[str]]) -> None:
    """Check that all generated files can be written, and replace nothing else.

    :param keys: the keys of ``outputs`` that generate each file.
    :raises DataError: a file is an input, no generated file, or generated twice.
    """
    inputs = input_files(library)
    operators = (library.folder / "operators").resolve()
    for path, wanted in keys.items():
        key = wanted[0]
        given = quote(library.outputs[key])
        if len(wanted) > 1:
            raise _error(
                library,
                wanted[1],
                f"{key} and {wanted[1]} both generate {path.name} in the same folder; name "
                "different paths",
            )
        if path in inputs or operators in (path, *path.parents):
            raise _error(
                library, key, f"{given} would replace the description itself; name another path"
            )
        for parent in path.parents:
            if parent in keys or (parent.exists() and not parent.is_dir()):
                raise _error(
                    library, key, f"{given} is in {parent.name}, which is a file; name another path"
                )
        if path.exists() and not path.is_file():
            raise _error(library, key, f"{path.name} exists and is not a file; name another path")
        if path.is_file() and not is_generated(path):
            file = f"{given[1:-1]}/{path.name}" if key in OUTPUT_FOLDERS else given[1:-1]
            raise _error(
                library,
                key,
                f"'{file}' exists and was not generated; remove the file, or name another path",
            )


def is_generated(path: Path) -> bool:
    """Return True if a file is an output of the generator, or empty."""
    try:
        with path.open("rb") as file:
            first = file.readline(_NOTICE_WITHIN)
        if not first or NOTICE.encode() in first:
            return True
        return {*json.loads(path.read_bytes())} == {"open", "functions"}
    except (OSError, ValueError, TypeError, RecursionError):
        return False


def _error(library: Library, key: str, message: str) -> DataError:
    return DataError(library.place(key), f"outputs, {key}", message)
