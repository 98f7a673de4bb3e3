"""JSON files: reading with clear errors, and atomic writing."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from diopi_proto.foreign_file import DOCUMENT_BYTES, read_regular_json

from .errors import KcgError


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object.

    :raises KcgError: the file cannot be read, or is not a JSON object.
    """
    try:
        document = read_regular_json(path, DOCUMENT_BYTES)
    except (OSError, ValueError) as error:
        raise KcgError(f"[kcg] {path} cannot be read: {error}") from error
    if not isinstance(document, dict):
        raise KcgError(f"[kcg] {path} is not a JSON object")
    return document


def write_json(path: Path, document: dict[str, Any]) -> None:
    """Replace a file atomically: if the process ends during the write, the old file remains.

    :raises KcgError: the file cannot be written.
    """
    if path.exists() and not path.is_file():
        raise KcgError(
            f"[kcg] {path} cannot be written: it is not a regular file, and is not replaced"
        )
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.write_text(json.dumps(document, indent=4) + "\n", encoding="utf-8")
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise KcgError(f"[kcg] {path} cannot be written: {error}") from error
