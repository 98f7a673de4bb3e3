"""Permutations of the same elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.reference import Array, reference

Sizes = tuple[int, ...]


@reference("diopiRepeat")
def repeat(*, input: Array, repeats_size: Sizes) -> dict[str, Any]:
    return {"out": np.tile(input, repeats_size)}


@reference("diopiPermute")
def permute(*, input: Array, dims: Sizes) -> dict[str, Any]:
    return {"out": np.transpose(input, dims)}


@reference("diopiTranspose")
def transpose(*, input: Array, dim0: int, dim1: int) -> dict[str, Any]:
    return {"out": np.swapaxes(input, dim0, dim1)}


@reference("diopiFlip")
def flip(*, input: Array, dims: Sizes) -> dict[str, Any]:
    return {"out": np.flip(input, dims)}


@reference("diopiRoll")
def roll(*, input: Array, shifts: Sizes, dims: Any) -> dict[str, Any]:
    if not dims:
        return {"out": np.roll(input, shifts[0])}
    return {"out": np.roll(input, shifts, dims)}
