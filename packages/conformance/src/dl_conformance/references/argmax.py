"""Maxima and minima with their indices."""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.reference import Array, reference


@reference("diopiMax")
def max_of(*, input: Array, dim: int) -> dict[str, Any]:
    return {"max": np.max(input, axis=dim), "max_indices": np.argmax(input, axis=dim)}


@reference("diopiMin")
def min_of(*, input: Array, dim: int) -> dict[str, Any]:
    return {"min": np.min(input, axis=dim), "min_indices": np.argmin(input, axis=dim)}


@reference("diopiArgmax")
def argmax(*, input: Array, dim: Any, keepdim: bool) -> dict[str, Any]:
    return {"out": np.argmax(input, axis=dim, keepdims=keepdim)}


@reference("diopiArgmin")
def argmin(*, input: Array, dim: Any, keepdim: bool) -> dict[str, Any]:
    return {"out": np.argmin(input, axis=dim, keepdims=keepdim)}
