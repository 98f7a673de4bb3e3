"""Concatenation, stacking and splitting."""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.reference import Array, reference


@reference("diopiCat")
def cat(*, tensors: list[Array], dim: int) -> dict[str, Any]:
    return {"out": np.concatenate([x for x in tensors if x.shape != (0,)], axis=dim)}


@reference("diopiStack")
def stack(*, tensors: list[Array], dim: int) -> dict[str, Any]:
    return {"out": np.stack(tensors, axis=dim)}


@reference("diopiSplitWithSizes")
def split(*, input: Array, splitSizes: tuple[int, ...], dim: int) -> dict[str, Any]:  # noqa: N803
    return {"outs": np.split(input, np.cumsum(splitSizes)[:-1], axis=dim)}
