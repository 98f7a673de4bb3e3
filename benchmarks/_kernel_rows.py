"""Shared parts of the kernel benchmarks: selection of calls, and table rows."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from _kernel_calls import FAMILIES, FLOAT32_ONLY
from _kernel_inputs import Make

Row = dict[str, Any]
SHOWN = 20
"""Number of slowest rows that the reports begin with."""


def chosen(only: str, dtypes: Sequence[torch.dtype]) -> Iterator[tuple[Row, Make, torch.dtype]]:
    """Return the calls of a family, or of operators whose name contains the text, in each dtype,
    with the columns that describe them. Float32 comes first.
    """
    for family, calls in FAMILIES.items():
        for name, make in calls.items():
            if only in name or only == family:
                for dtype in dtypes[:1] if name in FLOAT32_ONLY else dtypes:
                    head = {"family": family, "operator": name}
                    yield head | {"dtype": str(dtype).removeprefix("torch.")}, make, dtype


def measured(measure: Callable[[], Row]) -> Row:
    """Return the measured row; without a ratio if one side does not have the operator."""
    try:
        return measure()
    except (RuntimeError, NotImplementedError) as error:
        return {"ratio": None, "native": False, "error": str(error).splitlines()[0]}


def geometric_mean(ratios: list[float]) -> float | None:
    return statistics.geometric_mean(ratios) if ratios else None


def slowest(rows: Sequence[Row]) -> list[Row]:
    """Return the rows with the largest ratios, slowest first."""
    measured = [row for row in rows if row["ratio"] is not None]
    return sorted(measured, key=lambda row: -row["ratio"])[:SHOWN]
