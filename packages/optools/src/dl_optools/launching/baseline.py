"""What an earlier run of ``compare`` found, as a file, and what is worse now. Imports no torch."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dl_optools.compare.compare_page import number

FORMAT = 1
WORSE = 2.0
"""Errors that grew to so many times what they were are a regression,"""
NEAR = 0.5
"""where they are more than so much of the bound: below that they are noise."""


class BaselineError(ValueError):
    """A file is no baseline."""


def document_of(operators: Mapping[str, Mapping[str, Any]]) -> str:
    """The text of a baseline: what :func:`.compare_page.merged` has."""
    kept = {
        name: {key: each[key] for key in ("checked", "failed", "units")}
        for name, each in sorted(operators.items())
    }
    return json.dumps({"format": FORMAT, "operators": kept}, indent=1) + "\n"


def read(path: Path) -> dict[str, dict[str, Any]]:
    """The operators of a baseline.

    :raises BaselineError: it is none, or cannot be read.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        if document["format"] != FORMAT:
            raise ValueError(f"its format is {document['format']}, want {FORMAT}")
        found: dict[str, dict[str, Any]] = document["operators"]
        for each in found.values():
            number(each["units"]), int(each["checked"]), int(each["failed"])
    except (OSError, AttributeError, KeyError, TypeError, ValueError) as error:
        raise BaselineError(f"{path} is no baseline of `dl tool compare`: {error}") from None
    return found


def regressions(
    before: Mapping[str, Mapping[str, Any]], now: Mapping[str, Mapping[str, Any]]
) -> list[str]:
    """What is worse than it was, a line each.

    Wrong now and not then; an error that grew much and is near the bound; and an operator that was
    checked and is not any more, about which a run that finds nothing says nothing.
    """
    lines = []
    for name, each in now.items():
        old = before.get(name)
        units = number(each["units"])
        was = number(old["units"]) if old else float("nan")
        known = f"{was:.3g} x the bound before" if old else "not in the baseline"
        if each["failed"] and not (old and old["failed"]):
            lines.append(f"{name}: wrong in {each['failed']} of {each['checked']} ({known})")
        elif units > NEAR and was == was and units > WORSE * was:
            lines.append(f"{name}: {units:.3g} x the bound, {known}")
    lines += [
        f"{name}: not checked any more"
        for name, old in before.items()
        if old["checked"] and name not in now
    ]
    return lines
