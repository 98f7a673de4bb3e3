"""Logical operations."""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.reference import Array, reference


@reference("diopiLogicalAnd")
def logical_and(*, input: Array, other: Array) -> dict[str, Any]:
    return {"out": np.logical_and(input, other)}


@reference("diopiLogicalOr")
def logical_or(*, input: Array, other: Array) -> dict[str, Any]:
    return {"out": np.logical_or(input, other)}


@reference("diopiLogicalNot")
def logical_not(*, input: Array) -> dict[str, Any]:
    return {"out": np.logical_not(input)}


@reference("diopiLogicalAndInp")
def logical_and_in_place(*, input: Array, other: Array) -> dict[str, Any]:
    return {"input": np.logical_and(input, other)}


@reference("diopiLogicalOrInp")
def logical_or_in_place(*, input: Array, other: Array) -> dict[str, Any]:
    return {"input": np.logical_or(input, other)}


@reference("diopiLogicalNotInp")
def logical_not_in_place(*, input: Array) -> dict[str, Any]:
    return {"input": np.logical_not(input)}
