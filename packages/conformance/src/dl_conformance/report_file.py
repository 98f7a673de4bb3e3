"""Files of reports: where one may be written, and what one that is read has to hold."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from diopi_proto.foreign_file import DOCUMENT_BYTES, read_regular_json

from .results import FORMAT


class ReportError(Exception):
    """A file is no report of a run, or cannot become one."""


def check_writable(name: str) -> None:
    """Before a run, which is long.

    :raises ReportError: no file can be made there.
    """
    path = Path(name)
    if not name or path.is_dir() or not path.parent.is_dir():
        raise ReportError(f"{name!r} is no place for a report: name a file in a folder that exists")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise ReportError(f"{name!r} is no place for a report: it cannot be written")


def write(path: Path, text: str) -> None:
    """Write a report. What UTF-8 cannot hold, as halves of characters, becomes a question mark.

    :raises ReportError: the disk is full, or else it cannot be.
    """
    try:
        path.write_text(text, encoding="utf-8", errors="replace")
    except OSError as error:
        raise ReportError(f"{path} cannot be written: {error.strerror}") from error


def read_report(path: Path) -> dict[str, Any]:
    """A report that was written before.

    :raises ReportError: it is not there, cannot be read, or is something else.
    """
    try:
        report = read_regular_json(path, DOCUMENT_BYTES)
    except FileNotFoundError:
        raise ReportError(f"{path}: there is no such report; a run writes it with --json") from None
    except OSError as error:
        raise ReportError(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise ReportError(f"{path} is no report of a run: {error}") from None
    if not isinstance(report, dict) or report.get("format") != FORMAT:
        raise ReportError(f"{path} is no report of a run in format {FORMAT}: write one with --json")
    if missing := REQUIRED - report.keys():
        raise ReportError(f"{path} is no report of a run: it lacks {min(missing)!r}")
    for key, shape in SHAPES.items():
        if not _fits(report.get(key, {}), shape):
            raise ReportError(f"{path} is no report of a run: its {key!r} has another form")
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
"""What the entries of a report are; a page is made of them, and shows numbers as they are."""
REQUIRED = frozenset(SHAPES) - {"conversions", "models"}


def _fits(value: Any, shape: Any) -> bool:
    """A mapping or list of what its one entry says; a type; one of several."""
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
