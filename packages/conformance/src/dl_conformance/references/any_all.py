"""Tests for any or all nonzero elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.reference import Array, reference


@reference("diopiAny")
def any_of(*, input: Array, dim: Any) -> dict[str, Any]:
    return {"out": np.any(input != 0, axis=dim)}


@reference("diopiAll")
def all_of(*, input: Array, dim: Any) -> dict[str, Any]:
    return {"out": np.all(input != 0, axis=dim)}
