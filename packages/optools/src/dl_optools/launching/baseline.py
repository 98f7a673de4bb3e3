"""Baseline files with the results of ``compare`` or ``time``, and detection of regressions.

Imports no torch.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from diopi_proto.foreign_file import DOCUMENT_BYTES, read_regular_json
from dl_optools.compare.compare_page import to_float

FORMAT = 2
WORSE = 2.0
"""Factor by which an error has to grow to be a regression."""
NEAR = 0.5
"""Share of the bound below which an error is noise."""


SLOWER = 1.3
"""Factor by which an operator's time has to grow to be a regression."""
SHARE = 0.02
"""Share of a step's time below which a slowdown is noise."""

Operators = dict[str, dict[str, Any]]
Document = dict[str, Operators]
"""Operators by the tool's name, ``compare`` or ``time``."""
_KEPT = {"compare": ("checked", "failed", "units"), "time": ("seconds", "share")}


class BaselineError(ValueError):
    """The file is not a baseline, or belongs to something else."""


def document_of(found: Document) -> str:
    """Return the text of a baseline."""
    kept = {
        tool: {
            name: {key: each[key] for key in _KEPT[tool]}
            for name, each in sorted(operators.items())
        }
        for tool, operators in found.items()
    }
    return json.dumps({"format": FORMAT, **kept}, indent=1) + "\n"


def read(path: Path) -> Document:
    """Read a baseline.

    :raises BaselineError: the file is not a baseline, or cannot be read.
    """
    try:
        document = read_regular_json(path, DOCUMENT_BYTES)
        if not isinstance(document, dict) or "format" not in document:
            raise ValueError("it is not an object with a format")
        if document["format"] != FORMAT:
            raise ValueError(f"its format is {document['format']}, want {FORMAT}")
        found: Document = {tool: document[tool] for tool in _KEPT if tool in document}
        if not found:
            raise ValueError("it has results of neither compare nor time")
        for tool, operators in found.items():
            if not isinstance(operators, dict):
                raise ValueError(f"{tool!r} is not an object of operators")
            for name, each in operators.items():
                _check(f"{tool}: {name}", each, _KEPT[tool])
    except (OSError, ValueError) as error:
        raise BaselineError(f"{path} is not a baseline of `dl tool`: {error}") from None
    return found


def _check(where: str, each: Any, keys: Sequence[str]) -> None:
    if not isinstance(each, dict):
        raise ValueError(f"{where}: {each!r} is not an object")
    for key in keys:
        value = each.get(key, "missing")
        try:
            size = to_float(value)
        except (TypeError, ValueError):
            size = -1.0
        # The error of a call without a reference is not a number.
        if not (size >= 0 or (size != size and key == "units")) or isinstance(value, bool):
            raise ValueError(f"{where}: {key!r} is {value!r}, want a number >= 0")


def find_slowdowns(before: Operators, now: Operators) -> list[str]:
    """Describe operators that became slower, a line each."""
    lines = []
    for name, each in now.items():
        old = before.get(name)
        seconds, share = float(each["seconds"]), float(each["share"])
        was = float(old["seconds"]) if old else 0.0
        grown = share * (1 - was / seconds) if seconds else 0.0
        if seconds > SLOWER * was and grown > SHARE:
            known = f"{was * 1e3:.4g} ms before" if old else "not in the baseline"
            lines.append(f"{name}: {seconds * 1e3:.4g} ms a step, {known}; {grown:.0%} of the step")
    return lines


def find_regressions(
    before: Mapping[str, Mapping[str, Any]], now: Mapping[str, Mapping[str, Any]]
) -> list[str]:
    """Describe regressions, a line each.

    A regression is a new failure; an error that grew much and is near the bound; or an operator
    that was checked before and no longer is: a run without findings says nothing about it.
    """
    lines = []
    for name, each in now.items():
        old = before.get(name)
        units = to_float(each["units"])
        was = to_float(old["units"]) if old else float("nan")
        known = f"{was:.3g} x the bound before" if old else "not in the baseline"
        if each["failed"] and not (old and old["failed"]):
            lines.append(f"{name}: wrong in {each['failed']} of {each['checked']} ({known})")
        elif units > NEAR and was == was and units > WORSE * was:
            lines.append(f"{name}: {units:.3g} x the bound, {known}")
    lines += [
        f"{name}: no longer checked"
        for name, old in before.items()
        if old["checked"] and name not in now
    ]
    return lines
