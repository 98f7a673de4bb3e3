"""Strict list of operators whose compiled results differ, each with its cause."""

from __future__ import annotations

from pathlib import Path

from dl_dicp.testing.operators import KINDS, Report

LIST = Path(__file__).with_name("exceptions.txt")
SHAPES = ("static", "dynamic", "*")

Key = tuple[str, str]
"""Name of a test, such as ``add | forward | float32``, and ``static`` or ``dynamic``."""


class ExceptionsError(ValueError):
    """A line of the list is invalid."""


def parse(text: str) -> dict[Key, str]:
    """Read lines ``operator | kind | dtype | shapes | cause``; ``shapes`` is static, dynamic or *.

    :raises ExceptionsError: a part is missing or unknown, or a test is listed twice.
    """
    found: dict[Key, str] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = [part.strip() for part in line.split("|", 4)]
        if len(parts) != 5 or not all(parts):
            raise ExceptionsError(f"line {number}: want operator | kind | dtype | shapes | cause")
        operator, kind, dtype, shapes, cause = parts
        if kind not in KINDS or shapes not in SHAPES:
            raise ExceptionsError(f"line {number}: unknown kind {kind!r} or shapes {shapes!r}")
        for each in SHAPES[:2] if shapes == "*" else (shapes,):
            key = (f"{operator} | {kind} | {dtype}", each)
            if key in found:
                raise ExceptionsError(f"line {number}: {key[0]} is listed twice for {each} shapes")
            found[key] = cause
    return found


def load() -> dict[Key, str]:
    """Return the list of this package.

    :raises ExceptionsError: see :func:`parse`.
    """
    return parse(LIST.read_text(encoding="utf-8"))


def unexpected(report: Report, shapes: str, listed: dict[Key, str]) -> str | None:
    """Return how a report contradicts the list; None if it does not."""
    cause = listed.get((report.name, shapes))
    if report.problem is not None:
        return None if cause is not None else f"{report.name} ({shapes}): {report.problem}"
    if cause is None:
        return None
    return f"{report.name} ({shapes}) passes now: remove it from the list (its cause was: {cause})"
