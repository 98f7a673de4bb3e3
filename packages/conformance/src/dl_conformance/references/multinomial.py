"""Multinomial sampling."""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.philox import State, units
from dl_conformance.reference import Array, reference


@reference("diopiMultinomial")
def multinomial(
    *, input: Array, num_samples: int, replacement: bool, generator: State
) -> dict[str, Any]:
    rows = np.atleast_2d(input).astype(np.float64)
    if replacement or num_samples == 1:
        sums = np.cumsum(rows, axis=1)
        drawn = units(generator, len(rows) * num_samples, "float64").reshape(len(rows), -1)
        targets = drawn.astype(np.float64) * sums[:, -1:]
        each = zip(sums, targets, strict=True)
        found = np.stack([np.searchsorted(s, t, side="right") for s, t in each])
    else:
        u = units(generator, rows.size, "float64").reshape(rows.shape)
        keys = np.where(rows > 0, -np.log1p(-u) / rows, np.inf)
        found = np.argsort(keys, axis=1, kind="stable")[:, :num_samples]
    return {"out": found.reshape(*input.shape[:-1], num_samples)}
