"""Check that each slow row of the committed benchmark results has a cause."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any

from tools.projects import ROOT, tomllib

CAUSES = ROOT / "benchmarks" / "slow_rows.toml"
SLOW = 1.1
"""Ratio of dl's time to its peer's above which a row needs a cause."""


def name_of(row: dict[str, Any]) -> str:
    """Return the name that patterns match: ``operator dtype size``."""
    return f"{row['operator']} {row['dtype']} {row['size']}"


def check_rows(rows: list[dict[str, Any]], causes: list[dict[str, Any]]) -> Iterator[str]:
    """Yield a message for each slow row without exactly one cause, and each pattern without one."""
    slow = {name_of(row): row["ratio"] for row in rows if (row["ratio"] or 0) > SLOW}
    patterns = [(pattern, cause) for cause in causes for pattern in cause["rows"]]
    for name, ratio in slow.items():
        found = [cause["cause"] for pattern, cause in patterns if fnmatchcase(name, pattern)]
        if len(found) != 1:
            what = f"has {len(found)} causes" if found else "has no cause"
            yield f"{name}: takes {ratio:.2f} times its peer's time and {what}; it needs one"
    for pattern, cause in patterns:
        if not cause["cause"].strip():
            yield f"{pattern}: the cause is empty; state why these rows are slow"
        if not any(fnmatchcase(name, pattern) for name in slow):
            yield f"{pattern}: no row is slower than {SLOW}; remove the pattern"


def check_results() -> Iterator[str]:
    """Yield the messages for all committed results."""
    for device, entry in tomllib.loads(CAUSES.read_text("utf-8")).items():
        results = json.loads((ROOT / entry["results"]).read_text("utf-8"))
        rows = results.get("measured", results)["rows"]
        for message in check_rows(rows, entry["causes"]):
            yield f"{device}: {message}"
