"""Elements that are not 0 or that a mask picks."""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.reference import Array, reference


@reference("diopiNonzero")
def nonzero(*, input: Array) -> dict[str, Any]:
    return {"out": np.argwhere(input != 0)}


@reference("diopiMaskedSelect")
def masked_select(*, input: Array, mask: Array) -> dict[str, Any]:
    values, picked = np.broadcast_arrays(input, mask != 0)
    return {"out": values[picked]}
