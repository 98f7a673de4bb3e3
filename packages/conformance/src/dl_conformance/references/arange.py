"""Evenly spaced numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dl_conformance.reference import Array, Expected, reference


@reference("diopiArange")
def arange(*, start: Any, end: Any, step: Any) -> dict[str, Any]:
    count = max(math.ceil((end - start) / step), 0)
    value = start + np.arange(count).astype(np.longdouble) * step
    size = abs(start) + np.abs(value - start)
    return {"out": Expected(value, length=2, magnitude=size, op_class="reduction")}


@reference("diopiLinspace")
def linspace(*, start: Any, end: Any, steps: int) -> dict[str, Any]:
    share = np.arange(steps).astype(np.longdouble) / max(steps - 1, 1)
    value = start + share * (np.longdouble(end) - start)
    size = np.full(steps, abs(start) + abs(end), np.longdouble)
    return {"out": Expected(value, length=4, magnitude=size, op_class="reduction")}


@reference("diopiMeshGrid")
def mesh_grid(*, inputs: list[Array]) -> dict[str, Any]:
    return {"outs": list(np.meshgrid(*inputs, indexing="ij"))}
