"""Reading, validation and writing of report files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from diopi_proto.foreign_file import DOCUMENT_BYTES, read_regular_json

from .results import FORMAT


class ReportError(Exception):
    """A file is not a report, or a report cannot be written there."""


def check_writable(name: str) -> None:
    """Check before a long run that its report can be written.

    :raises ReportError: the file cannot be created.
    """
    path = Path(name)
    if not name or path.is_dir() or not path.parent.is_dir():
        raise ReportError(f"{name!r} is not a path for a report: name a file in an existing folder")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise ReportError(f"{name!r} is not a path for a report: it is not writable")


def write(path: Path, text: str) -> None:
    """Write a report; characters that UTF-8 cannot encode, such as lone surrogates, become "?".

    :raises ReportError: the file cannot be written, for example because the disk is full.
    """
    try:
        path.write_text(text, encoding="utf-8", errors="replace")
    except OSError as error:
        raise ReportError(f"{path} cannot be written: {error.strerror}") from error


def read_report(path: Path) -> dict[str, Any]:
    """Read a report.

    :raises ReportError: the file does not exist, is not readable, or is not a report.
    """
    try:
        report = read_regular_json(path, DOCUMENT_BYTES)
    except FileNotFoundError:
        raise ReportError(
            f"{path}: the report does not exist; a run writes it with --json"
        ) from None
    except OSError as error:
        raise ReportError(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise ReportError(f"{path} is not a report of a run: {error}") from None
    if not isinstance(report, dict) or report.get("format") != FORMAT:
        raise ReportError(
            f"{path} is not a report of a run in format {FORMAT}: write one with --json"
        )
    if missing := REQUIRED - report.keys():
        raise ReportError(f"{path} is not a report of a run: it has no {min(missing)!r}")
    for key, shape in SHAPES.items():
        if not _fits(report.get(key, {}), shape):
            raise ReportError(f"{path} is not a report of a run: its {key!r} has the wrong type")
    return report


NUMBER = (int, float)
SHAPES: dict[str, Any] = {
    "vendor": {str: (str, bool, {str: str}, type(None), *NUMBER)},
    "seconds": NUMBER,
    "counts": {str: int},
    "operators": {str: {str: {str: NUMBER}}},
    "conversions": {str: {str: int}},
    "models": {str: {str: {str: (int, [str])}}},
    "cases": [{str: (str, {str: int}, type(None), *NUMBER)}],
}
"""Types of the entries of a report; a page renders them without further checks."""
REQUIRED = frozenset(SHAPES) - {"conversions", "models"}


def _fits(value: Any, shape: Any) -> bool:
    """Return True if a value has a shape: a mapping, a list, a type, or a tuple of alternatives."""
    if isinstance(shape, tuple):
        return any(_fits(value, each) for each in shape)
    if isinstance(shape, dict):
        ((key, of),) = shape.items()
        return isinstance(value, dict) and all(
            isinstance(k, key) and _fits(v, of) for k, v in value.items()
        )
    if isinstance(shape, list):
        return isinstance(value, list) and all(_fits(x, shape[0]) for x in value)
    return isinstance(value, shape) and (shape is bool or not isinstance(value, bool))
